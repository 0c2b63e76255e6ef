import { loadArtifact } from '@bezel/contracts'
import { Wei } from '@bezel/protocol'
import { keccak256, stringToHex, type Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** An account of the local chain. Its key follows from its name, so everybody knows it. */
export interface DevAccount {
  readonly name: string
  readonly privateKey: Hex
  readonly account: PrivateKeyAccount
}

/** Native balance for gas, more than any local chain uses up. The deployer's also backs every wrapped coin. */
const GAS_WEI = 10_000n * Wei.one
const DEPLOYER_WEI = 100_000_000n * Wei.one

function devAccount(name: string): DevAccount {
  const privateKey = keccak256(stringToHex(`bezel devnet account ${name}`))
  return { name, privateKey, account: privateKeyToAccount(privateKey) }
}

function numbered(name: string, count: number): DevAccount[] {
  return Array.from({ length: count }, (_, i) => devAccount(`${name}-${i + 1}`))
}

/** Traders, with collateral of every kind, the Diamond approved, and gas. */
export const TRADERS = numbered('trader', 5)
/** Agents, with gas only. */
export const AGENTS = numbered('agent', 5)
/** An account with nothing at all. */
const POOR = numbered('poor', 1)
const RELAYER = devAccount('relayer')
export const KEEPER = devAccount('keeper')
/** The deployer, which holds every role of every Diamond and mints every token. */
export const DEPLOYER = devAccount('deployer')
/** Oracles: one more than the largest quorum, so that one may be silent. */
export const ORACLES = numbered('oracle', 4)
/** The account that receives the fees which leave the Diamond. */
export const TREASURY = devAccount('treasury')

/** Accounts that var/devnet.json publishes. */
export const PUBLISHED_ACCOUNTS = [...TRADERS, ...AGENTS, ...POOR, RELAYER, KEEPER, DEPLOYER]

/** Address at which every live chain has Multicall3. */
export const MULTICALL3: Hex = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Returns the accounts of a fresh chain: those with a native balance, and Multicall3. */
export function genesisAccounts(): { address: Hex; balanceWei: bigint; code?: Hex }[] {
  const withGas = [...TRADERS, ...AGENTS, RELAYER, KEEPER, ...ORACLES].map(({ account }) => account.address)
  return [
    ...withGas.map((address) => ({ address, balanceWei: GAS_WEI })),
    { address: DEPLOYER.account.address, balanceWei: DEPLOYER_WEI },
    { address: MULTICALL3, balanceWei: 0n, code: deployedCode('Multicall3') },
  ]
}

/** End of the code that deploys a contract without a constructor; what it deploys comes after it. */
const END_OF_CREATION = '5ff3fe'

/** Returns the code that a contract without a constructor has once it is deployed. */
function deployedCode(contractName: string): Hex {
  const { bytecode } = loadArtifact(contractName)
  return `0x${bytecode.slice(bytecode.indexOf(END_OF_CREATION) + END_OF_CREATION.length)}`
}
