import { diamondAbi } from '@bezel/protocol'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseEventLogs,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type Hex,
  type HttpTransport,
  type ParseEventLogsReturnType,
  type PublicClient,
} from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { DevnetFile } from './startDevnet.ts'
import { PATIENCE_MS, until } from './until.ts'

export const P10 = 10n ** 10n

export type ReceiptEvent = ParseEventLogsReturnType<typeof diamondAbi>[number]
type WriteName = ContractFunctionName<typeof diamondAbi, 'nonpayable'>

/** Client of one chain of a running devnet, over JSON-RPC as a wallet uses it. */
export interface ChainClient {
  diamond: Address
  client: PublicClient
  account(name: string): PrivateKeyAccount
  collateral(symbol: string): { index: number; address: Address; decimals: number }
  /** Calls a control or test method of the devnet. */
  control<T = unknown>(method: string, ...params: unknown[]): Promise<T>
  /**
   * Signs and sends a transaction, waits for its receipt and returns the Diamond's events in it. Throws when it
   * reverted.
   */
  send<N extends WriteName>(
    account: PrivateKeyAccount,
    functionName: N,
    args: ContractFunctionArgs<typeof diamondAbi, 'nonpayable', N>,
  ): Promise<ReceiptEvent[]>
  /** Waits for an event of the Diamond that matches, searching from the first block on, and returns it. */
  event(matches: (event: ReceiptEvent) => boolean): Promise<ReceiptEvent>
}

/** Returns the arguments of an event by their names, whichever event it is. */
export function argsOf({ args }: ReceiptEvent): Readonly<Record<string, unknown>> {
  return { ...args }
}

const POLL_MS = 50

/** The number of the last events that the error of a wait shows. */
const SHOWN_EVENTS = 3

/** Returns a transport to the node of a busy machine, whose answers are waited for and not asked for twice. */
export function patientHttp(url?: string): HttpTransport {
  return http(url, { timeout: PATIENCE_MS })
}

export function createChainClient(file: DevnetFile, slug = 'arbitrum-sepolia'): ChainClient {
  const described = file.chains[slug]
  if (described === undefined) throw new Error(`the devnet does not serve ${slug}`)
  const { chainId, rpcUrl, diamond, collaterals } = described
  const chain = defineChain({
    id: chainId,
    name: slug,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const client = createPublicClient({ chain, transport: patientHttp(), pollingInterval: POLL_MS }) as PublicClient

  async function events(): Promise<ReceiptEvent[]> {
    const logs = await client.getLogs({ address: diamond, fromBlock: 0n })
    return parseEventLogs({ abi: diamondAbi, logs }) as ReceiptEvent[]
  }

  return {
    diamond,
    client,
    account: (name) => privateKeyToAccount(keyOf(file, name)),
    collateral: (symbol) => collaterals.find((entry) => entry.symbol === symbol)!,
    control: async <T>(method: string, ...params: unknown[]) =>
      (await client.request({ method, params } as never)) as T,
    async send(account, functionName, args) {
      const wallet = createWalletClient({ account, chain, transport: patientHttp() })
      const request = { address: diamond, abi: diamondAbi, functionName, args, account }
      // Half as much again as the estimate, as wallets do: an answer of the oracle in between makes the call more
      // expensive.
      const gas = ((await client.estimateContractGas(request as never)) * 3n) / 2n
      const hash = await wallet.writeContract({ ...request, gas } as never)
      const receipt = await client.waitForTransactionReceipt({ hash })
      if (receipt.status !== 'success') throw new Error(`${functionName} reverted on chain`)
      return parseEventLogs({ abi: diamondAbi, logs: receipt.logs }) as ReceiptEvent[]
    },
    event: (matches) =>
      until(`an event with ${matches}`, async (saw) => {
        const all = await events()
        saw(all.slice(-SHOWN_EVENTS).map(({ eventName, args }) => ({ eventName, args })))
        return all.find(matches)
      }),
  }
}

function keyOf(file: DevnetFile, name: string): Hex {
  const found = file.accounts.find((account) => account.name === name)
  if (found === undefined) throw new Error(`the devnet has no account ${name}`)
  return found.privateKey
}

/** Returns the argument of openTrade for a trade in USDC. */
export function tradeOf(
  chain: ChainClient,
  trader: Address,
  terms: {
    price: bigint
    long?: boolean
    tradeType?: number
    leverage?: number
    tp?: bigint
    sl?: bigint
    collateral?: bigint
  },
) {
  return {
    user: trader,
    index: 0,
    pairIndex: 0,
    leverage: terms.leverage ?? 10_000,
    long: terms.long ?? true,
    isOpen: true,
    collateralIndex: chain.collateral('USDC').index,
    tradeType: terms.tradeType ?? 0,
    collateralAmount: terms.collateral ?? 100_000_000n,
    openPrice: terms.price * P10,
    tp: (terms.tp ?? 0n) * P10,
    sl: (terms.sl ?? 0n) * P10,
    isCounterTrade: false,
    positionSizeToken: 0n,
    __placeholder: 0,
  }
}
