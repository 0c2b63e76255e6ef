import { NodeUnavailableError } from '../ground/unavailable.ts'
import { formatDecimal, parseAddress, type Address, type Balance, type Decimal } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import { type RpcOutcome } from '../chain/rpcOutcome.ts'
import { revertData } from '../chain/revertData.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import { callsPerTrader, holdingsCalls, WHOLE_FEE_DECIMALS } from './holdingsCalls.ts'

/** What the chain says of an account and tells no event about. */
export interface Holdings {
  readonly balances: Balance[]
  /** `null` where the Diamond has no fee tiers. */
  readonly feeTierMultiplier: Decimal | null
  readonly referrer: Address | null
  readonly delegate: Address
}

/**
 * All of it, of all of them, in one round trip. Throws `NodeUnavailableError` when the node did not answer; an account that could not be
 * read although it did has the error in its place.
 */
export async function readHoldings(
  client: RpcClient,
  { diamond }: ServedChain,
  collaterals: readonly ListedCollateral[],
  traders: readonly Address[],
): Promise<(Holdings | UnreadableAccountError)[]> {
  const outcomes = await client.batch(traders.flatMap((trader) => holdingsCalls(diamond, collaterals, trader)))
  const count = callsPerTrader(collaterals)
  return traders.map((_, at) => holdingsOf(outcomes.slice(at * count, (at + 1) * count), collaterals))
}

function holdingsOf(
  [delegate, referrer, fee, ...amounts]: readonly RpcOutcome[],
  collaterals: readonly ListedCollateral[],
): Holdings | UnreadableAccountError {
  try {
    const referrerWord = wordOf(referrer, 'its referrer')
    return {
      delegate: addressOf(wordOf(delegate, 'its delegate')),
      referrer: referrerWord === 0n ? null : addressOf(referrerWord),
      feeTierMultiplier: hasNoTiers(fee) ? null : formatDecimal(wordOf(fee, 'its fee'), WHOLE_FEE_DECIMALS),
      balances: collaterals.map(({ symbol, decimals }, i) => ({
        collateral: symbol,
        balance: formatDecimal(wordOf(amounts[2 * i], `its ${symbol}`), decimals),
        allowance: formatDecimal(wordOf(amounts[2 * i + 1], `its allowance of ${symbol}`), decimals),
      })),
    }
  } catch (error) {
    if (error instanceof UnreadableAccountError) return error
    throw error
  }
}

function hasNoTiers(fee: RpcOutcome | undefined): boolean {
  return fee !== undefined && revertData(fee) !== undefined
}

/** Every answer begins with the word that counts. A contract that is not there answers without any. */
const WORD_PATTERN = /^0x[0-9a-fA-F]{64}/

function wordOf(outcome: RpcOutcome | undefined, what: string): bigint {
  if (outcome?.ok !== true) {
    throw new UnreadableAccountError(`the chain does not say of an account ${what}: ${outcome?.message ?? 'no answer'}`)
  }
  const word = typeof outcome.result === 'string' ? WORD_PATTERN.exec(outcome.result)?.[0] : undefined
  if (word !== undefined) return BigInt(word)
  throw new UnreadableAccountError(`what the chain says of an account, ${what}, can't be read`)
}

function addressOf(word: bigint): Address {
  const address = parseAddress(`0x${word.toString(16).padStart(40, '0')}`)
  if (address === undefined) throw new UnreadableAccountError("an account's address on the chain can't be read")
  return address
}

/** The node answered, but not for all that belongs to this account. */
export class UnreadableAccountError extends NodeUnavailableError {}
