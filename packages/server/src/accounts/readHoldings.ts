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
import { headNumberCall, quantity, resultOf } from '../chain/blocks.ts'
import { CALLS_PER_BATCH, type RpcClient, type RpcOutcome, revertData, type RpcCall } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { BlockRange } from '../journal/accountLog.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'
import { erc20Abi, toFunctionSelector, type AbiFunction } from 'viem'
import type { OwnTerms, TradedPair } from './positions/traderTerms.ts'

const WHOLE_FEE = FeeMultiplier.one

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
  terms: selectorOf(diamondAbi, 'getUserPriceImpact'),
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

/** An account to read: a trader, and the pairs in which it has positions. */
export interface AskedAccount {
  readonly trader: Address
  readonly pairIndices: readonly number[]
}

/** An account as one round trip found it. */
interface AccountReading {
  readonly holdings: Holdings
  /** The trader's own terms by pair index, without pairs for which the node did not answer. */
  readonly ownTerms: ReadonlyMap<number, OwnTerms>
  readonly blocks: BlockRange | undefined
}

/** The collaterals of an account, and true when the blocks of the answer are asked for too: two calls more. */
interface ReadAs {
  readonly collaterals: readonly ListedCollateral[]
  readonly isPlaced: boolean
}

/**
 * Reads all these accounts in one round trip. Throws `NodeUnavailableError` when the node did not answer. When it
 * answered but the holdings of one account could not be read, that account's place holds the error.
 */
export async function readAccounts(
  client: RpcClient,
  { diamond }: ServedChain,
  { collaterals, isPlaced }: ReadAs,
  accounts: readonly AskedAccount[],
): Promise<(AccountReading | UnreadableAccountError)[]> {
  const calls = accounts.flatMap(({ trader, pairIndices }) => [
    ...holdingsCalls(diamond, collaterals, trader),
    ...pairIndices.map((pairIndex) => ownTermsCall(diamond, { trader, pairIndex })),
  ])
  const { outcomes, blocks } = isPlaced
    ? await batchBetween(client, calls)
    : { outcomes: await client.batch(calls), blocks: undefined }
  let from = 0
  return accounts.map(({ pairIndices }) => {
    const termsFrom = from + holdingsCallCount(collaterals)
    const holdings = holdingsOf(outcomes.slice(from, termsFrom), collaterals)
    const ownTerms = new Map<number, OwnTerms>()
    for (const [at, pairIndex] of pairIndices.entries()) {
      const own = ownTermsOf(outcomes[termsFrom + at])
      if (own !== undefined) ownTerms.set(pairIndex, own)
    }
    from = termsFrom + pairIndices.length
    return holdings instanceof UnreadableAccountError ? holdings : { holdings, ownTerms, blocks }
  })
}

/**
 * Runs calls between two questions for the node's head: their answers are of these two blocks or one between them.
 * The block that the calls themselves could tell is, on a chain above another, one of the chain below.
 */
async function batchBetween(
  client: RpcClient,
  calls: readonly RpcCall[],
): Promise<{ readonly outcomes: readonly RpcOutcome[]; readonly blocks: BlockRange }> {
  const [before, ...others] = await client.batch([headNumberCall, ...calls, headNumberCall])
  const [from, to] = [quantity(resultOf(before)), quantity(resultOf(others.at(-1)))]
  return { outcomes: others.slice(0, -1), blocks: { from, to: Math.max(from, to) } }
}

/**
 * Reads the own terms of traders, in round trips of `CALLS_PER_BATCH`, and passes each on; those that the node did not
 * answer are left out. Throws `NodeUnavailableError`.
 */
export async function readOwnTerms(
  client: RpcClient,
  { diamond }: ServedChain,
  pairs: readonly TradedPair[],
  found: (pair: TradedPair, own: OwnTerms) => void,
): Promise<void> {
  for (let from = 0; from < pairs.length; from += CALLS_PER_BATCH) {
    const part = pairs.slice(from, from + CALLS_PER_BATCH)
    const outcomes = await client.batch(part.map((pair) => ownTermsCall(diamond, pair)))
    for (const [at, pair] of part.entries()) {
      const own = ownTermsOf(outcomes[at])
      if (own !== undefined) found(pair, own)
    }
  }
}

function ownTermsCall(diamond: Address, { trader, pairIndex }: TradedPair): RpcCall {
  return viewCall(diamond, SELECTORS.terms + addressWord(trader) + uintWord(BigInt(pairIndex)))
}

/** Terms on a Diamond that reverts, because it has no such view. */
const NO_OWN_TERMS: OwnTerms = { cumulVolPriceImpactMultiplier: 0, fixedSpreadP: 0 }

/** Matches the multiplier and the spread, the first two words of the answer; both are uint16. */
const OWN_TERMS_PATTERN = /^0x0{60}([0-9a-f]{4})0{60}([0-9a-f]{4})/i

function ownTermsOf(outcome: RpcOutcome | undefined): OwnTerms | undefined {
  if (outcome?.ok !== true) return outcome !== undefined && hasReverted(outcome) ? NO_OWN_TERMS : undefined
  const [, multiplier, spread] =
    typeof outcome.result === 'string' ? (OWN_TERMS_PATTERN.exec(outcome.result) ?? []) : []
  if (multiplier === undefined || spread === undefined) return undefined
  return { cumulVolPriceImpactMultiplier: Number.parseInt(multiplier, 16), fixedSpreadP: Number.parseInt(spread, 16) }
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
      feeTierMultiplier:
        fee !== undefined && hasReverted(fee) ? null : FeeMultiplier.format(FeeMultiplier.of(wordOf(fee, 'its fee'))),
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

/** Returns true when the Diamond refused a call, as one does that lacks the view. */
function hasReverted(outcome: RpcOutcome): boolean {
  return revertData(outcome) !== undefined
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

function holdingsCallCount(collaterals: readonly ListedCollateral[]): number {
  return DIAMOND_CALLS + 2 * collaterals.length
}

/** Returns the first of these accounts, as many as one round trip reads. One alone is read whatever it takes. */
export function firstBatch(collaterals: readonly ListedCollateral[], accounts: Iterable<AskedAccount>): AskedAccount[] {
  const batch: AskedAccount[] = []
  let calls = 0
  for (const account of accounts) {
    calls += holdingsCallCount(collaterals) + account.pairIndices.length
    if (batch.length === MAX_TRADERS_PER_BATCH || (batch.length > 0 && calls > CALLS_PER_BATCH)) break
    batch.push(account)
  }
  return batch
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
