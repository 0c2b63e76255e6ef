import { keccak256, stringToHex, type Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** An account of the local chain. Its key is public knowledge: it follows from its name. */
export interface DevAccount {
  readonly name: string
  readonly privateKey: Hex
  readonly account: PrivateKeyAccount
}

/** More than any local chain uses up; the deployer also backs every wrapped coin with it. */
const GAS_WEI = 10_000n * 10n ** 18n
const DEPLOYER_WEI = 100_000_000n * 10n ** 18n

function devAccount(name: string): DevAccount {
  const privateKey = keccak256(stringToHex(`bezel devnet account ${name}`))
  return { name, privateKey, account: privateKeyToAccount(privateKey) }
}

function numbered(name: string, count: number): DevAccount[] {
  return Array.from({ length: count }, (_, i) => devAccount(`${name}-${i + 1}`))
}

/** Collateral of every kind, the Diamond approved, and gas. */
export const TRADERS = numbered('trader', 5)
/** Gas only. */
export const AGENTS = numbered('agent', 5)
/** Nothing at all. */
export const POOR = numbered('poor', 1)
export const RELAYER = devAccount('relayer')
export const KEEPER = devAccount('keeper')
/** Holds every role of every Diamond, mints every token. */
export const DEPLOYER = devAccount('deployer')
/** One more than the largest quorum, so that one may be silent. */
export const ORACLES = numbered('oracle', 4)
/** Receives the fees that leave the Diamond. */
export const TREASURY = devAccount('treasury')

/** The accounts that var/devnet.json hands out. */
export const PUBLISHED_ACCOUNTS = [...TRADERS, ...AGENTS, ...POOR, RELAYER, KEEPER, DEPLOYER]

/** Native balances of a fresh chain. */
export function genesisBalances(): { address: Hex; balanceWei: bigint }[] {
  const withGas = [...TRADERS, ...AGENTS, RELAYER, KEEPER, ...ORACLES].map(({ account }) => account.address)
  return [
    ...withGas.map((address) => ({ address, balanceWei: GAS_WEI })),
    { address: DEPLOYER.account.address, balanceWei: DEPLOYER_WEI },
  ]
}
