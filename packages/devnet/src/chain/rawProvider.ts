import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  MineOrdering,
  PRAGUE,
  SpecId,
  l1GenesisState,
  l1ProviderFactory,
} from '@nomicfoundation/edr'
import type { Provider, ProviderConfig } from '@nomicfoundation/edr'
import type { Hex } from './quantity.ts'

export interface GenesisAccount {
  address: Hex
  balanceWei: bigint
}

export interface RawProviderOptions {
  chainId: number
  genesisTimeS: number
  accounts: readonly GenesisAccount[]
}

export const BLOCK_GAS_LIMIT = 1_000_000_000n
/** Arbitrum's floor. It hardly moves, see BASE_FEE_CHANGE_DENOMINATOR. */
export const BASE_FEE_WEI = 10_000_000n
// With the usual 8, empty blocks would take the base fee to 7 wei within a minute, which no wallet ever meets on a live chain.
const BASE_FEE_CHANGE_DENOMINATOR = 1_000_000_000_000n
const COINBASE = '0xc0ffee0000000000000000000000000000000000'

// EDR allows one context per process.
let sharedContext: Promise<EdrContext> | undefined

/** Makes a fresh chain in the process-wide EDR context, as EDR gives it. */
export async function createRawProvider(options: RawProviderOptions): Promise<Provider> {
  sharedContext ??= createContext()
  const context = await sharedContext
  const logger = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined }
  const subscriptions = { subscriptionCallback: () => undefined }
  return context.createProvider(L1_CHAIN_TYPE, toConfig(options), logger, subscriptions, new ContractDecoder())
}

async function createContext(): Promise<EdrContext> {
  const context = new EdrContext()
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory())
  return context
}

function toConfig({ chainId, genesisTimeS, accounts }: RawProviderOptions): ProviderConfig {
  const genesisAccounts = accounts.map(({ address, balanceWei }) => ({
    address: toBytes(address),
    balance: balanceWei,
  }))
  return {
    chainId: BigInt(chainId),
    networkId: BigInt(chainId),
    hardfork: PRAGUE,
    genesisState: [...l1GenesisState(SpecId.Prague), ...genesisAccounts],
    network: { genesisBlockGasLimit: BLOCK_GAS_LIMIT, genesisBlockTime: BigInt(genesisTimeS) },
    mining: { autoMine: false, blockGasLimit: BLOCK_GAS_LIMIT, memPool: { order: MineOrdering.Fifo } },
    initialBaseFeePerGas: BASE_FEE_WEI,
    baseFeeConfig: [
      { activation: { blockNumber: 0n }, maxChangeDenominator: BASE_FEE_CHANGE_DENOMINATOR, elasticityMultiplier: 2n },
    ],
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    defaultTransactionGasLimit: BLOCK_GAS_LIMIT,
    transactionGasCap: false,
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    coinbase: toBytes(COINBASE),
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  }
}

function toBytes(hex: Hex): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))
}
