import { NodeUnavailableError } from '../ground/unavailable.ts'
import {
  FeeMultiplier,
  diamondAbi,
  formatDecimal,
  parseAddress,
  type Address,
  type Balance,
  type Decimal,
  type Hex,
} from '@bezel/protocol'
import { type RpcClient, type RpcOutcome, revertData, type RpcCall } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import { erc20Abi, toFunctionSelector, type AbiFunction } from 'viem'

const WHOLE_FEE = FeeMultiplier.one

/** The greatest number of calls in one request. Public nodes refuse larger batches. */
const CALLS_PER_BATCH = 200

const MAX_TRADERS_PER_BATCH = 25

const DIAMOND_CALLS = 3

/**
 * Function selectors, computed once. Rounds make these calls by the thousand, so their data is concatenated by hand
 * instead of encoded by a library.
 */
const SELECTORS = {
  delegate: selectorOf(diamondAbi, 'getTradingDelegate'),
  referrer: selectorOf(diamondAbi, 'getTraderActiveReferrer'),
  fee: selectorOf(diamondAbi, 'calculateFeeAmount'),
  balance: selectorOf(erc20Abi, 'balanceOf'),
  allowance: selectorOf(erc20Abi, 'allowance'),
}

/** The part of an account that the chain emits no events about. */
export interface Holdings {
  readonly balances: Balance[]
  /** Share of the full fee that the trader pays; `null` where the Diamond has no fee tiers. */
  readonly feeTierMultiplier: Decimal | null
  readonly referrer: Address | null
  readonly delegate: Address
}

/**
 * Reads the holdings of all these traders in one round trip. Throws `NodeUnavailableError` when the node did not
 * answer. When it answered but one account could not be read, that account's place holds the error.
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
      feeTierMultiplier: hasNoTiers(fee) ? null : FeeMultiplier.format(FeeMultiplier.of(wordOf(fee, 'its fee'))),
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

/**
 * Matches the first 32-byte word of an answer, which is the value in every call used here. A missing contract answers
 * with no data.
 */
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

/** Thrown when the node answered, but not for every value of this account. */
export class UnreadableAccountError extends NodeUnavailableError {}

function callsPerTrader(collaterals: readonly ListedCollateral[]): number {
  return DIAMOND_CALLS + 2 * collaterals.length
}

/** Returns the number of accounts that one round trip reads. */
export function tradersPerBatch(collaterals: readonly ListedCollateral[]): number {
  const fitting = Math.floor(CALLS_PER_BATCH / callsPerTrader(collaterals))
  return Math.max(1, Math.min(MAX_TRADERS_PER_BATCH, fitting))
}

/** Returns the calls for one trader: delegate, referrer, fee, then balance and allowance of each collateral. */
function holdingsCalls(
  diamond: Address,
  collaterals: readonly ListedCollateral[],
  trader: Address,
): readonly RpcCall[] {
  const who = addressWord(trader)
  const spender = addressWord(diamond)
  return [
    viewCall(diamond, SELECTORS.delegate + who),
    viewCall(diamond, SELECTORS.referrer + who),
    viewCall(diamond, SELECTORS.fee + who + uintWord(WHOLE_FEE)),
    ...collaterals.flatMap(({ address }) => [
      viewCall(address, SELECTORS.balance + who),
      viewCall(address, SELECTORS.allowance + who + spender),
    ]),
  ]
}

function viewCall(to: Address, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] }
}

function addressWord(address: Address): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function uintWord(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

function selectorOf(abi: readonly unknown[], name: string): Hex {
  const found = (abi as readonly AbiFunction[]).find((item) => item.type === 'function' && item.name === name)
  if (found === undefined) throw new Error(`the ABI has no ${name}`)
  return toFunctionSelector(found) as Hex
}
