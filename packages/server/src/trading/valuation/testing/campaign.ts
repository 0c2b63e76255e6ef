import { CancelReason, ORDER_REASONS, Price, type OrderReason } from '@bezel/protocol'
import assert from 'node:assert/strict'
import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createRandom, type Random } from '../../../../../../contracts/test/campaign/random.ts'
import { createWorld, RevertedError, type Outcome, type World } from '../../../../../../contracts/test/world.ts'
import { TRADERS } from '../../../../../devnet/src/deploy/accounts.ts'
import type { Market, Moment, TradeFeesData } from '../chainState.ts'
import { createChainReader, type ChainReader } from './chainReader.ts'
import { price } from './fixtures.ts'
import { COLLATERAL, PAIR, prepareChain } from './prepareChain.ts'

/** A run of random trading on a Diamond of its own. */
export interface Campaign {
  readonly world: World
  readonly reader: ChainReader
  readonly random: Random
  /** Oracle prices by pair, 1e10. */
  readonly prices: Map<number, Price>
  /** Open positions. */
  readonly held: HeldPosition[]
  /** Number of comparisons, by the name of the compared value. */
  readonly compared: Map<string, number>
  /**
   * Number of occurrences of each circumstance that a formula treats in its own way, which shows that the run covers
   * them.
   */
  readonly witnessed: Map<string, number>
}

export interface HeldPosition {
  readonly account: PrivateKeyAccount
  readonly index: number
  readonly pairIndex: number
  readonly collateralIndex: number
}

const START_PRICES = new Map<number, Price>([
  [PAIR.BTC, price(65_000)],
  [PAIR.LINK, price(14)],
  [PAIR.EUR, price(1.16)],
  [PAIR.SOL, price(120)],
])

export const PAIR_INDICES = Object.values(PAIR)
export const COLLATERAL_INDICES = Object.values(COLLATERAL)
/** Governance's share of a fee on the local chain, 1e3 per percent. */
export const GOV_FEE_P = 24_500
export const ACCOUNTS = TRADERS.map(({ account }) => account)

/** Start of the chain's time. It stands still unless an action moves it, so a seed replays exactly. */
const START_MS = Date.UTC(2026, 5, 1, 12)

export async function createCampaign(seed: number): Promise<Campaign> {
  const world = await createWorld('arbitrum-sepolia', () => START_MS)
  await prepareChain(world)
  return {
    world,
    reader: createChainReader(world),
    random: createRandom(seed),
    prices: new Map(START_PRICES),
    held: [],
    compared: new Map(),
    witnessed: new Map(),
  }
}

/**
 * Returns a market that was read before an answer with the terms that the answer was given on: the first execution of a
 * day fixes the trader's tier.
 */
export async function withTermsOfAnswer(
  { reader }: Campaign,
  market: Market,
  trader: Address,
  pairIndex: number,
): Promise<Market> {
  return { ...market, terms: await reader.terms(trader, pairIndex) }
}

/** Asserts that the computed value equals the chain's, to the last digit. */
export function compare(c: Campaign, name: string, ours: unknown, chains: unknown): void {
  assert.deepEqual(ours, chains, `${name}: ours is the first`)
  c.compared.set(name, (c.compared.get(name) ?? 0) + 1)
}

/** Returns the chain's reason of a refusal, which only some events carry; 0 without such an event. */
export function refusedBy(answered: Outcome, ...names: readonly string[]): number {
  const found = answered.events.find(({ eventName }) => names.includes(eventName))
  return (found?.args as { cancelReason?: number } | undefined)?.cancelReason ?? CancelReason.NONE
}

/** Compares the reason of a refusal with the chain's number, and counts each reason as a circumstance. */
export function compareReason(c: Campaign, name: string, ours: OrderReason | null, chains: number): void {
  compare(c, name, ours ?? 'NONE', ORDER_REASONS[chains])
  witness(c, `${name}: ${ours ?? 'NONE'}`, true)
}

export function witness(c: Campaign, circumstance: string, isThere: boolean): void {
  c.witnessed.set(circumstance, (c.witnessed.get(circumstance) ?? 0) + (isThere ? 1 : 0))
}

export function latestMoment({ world }: Campaign): Moment {
  const { timestampS, number: blockNumber } = world.chain.head()
  return { timestampS, blockNumber }
}

export function priceOf({ prices }: Campaign, pairIndex: number): Price {
  return prices.get(pairIndex)!
}

/** Returns a price moved by up to that many millionths. */
export function nearby({ random }: Campaign, from: Price, maxPpm: number): Price {
  return Price.of((from * BigInt(1_000_000 + random.int(-maxPpm, maxPpm))) / 1_000_000n)
}

/** Returns a random whole number from 1 to `max`, spread over orders of magnitude. */
export function upTo<Value extends bigint>({ random }: Campaign, max: Value): Value {
  const parts = BigInt(random.logInt(1, 1_000_000))
  const amount = (max * parts) / 1_000_000n
  return (amount > 0n ? amount : 1n) as Value
}

export function forget(c: Campaign, user: Address, index: number): void {
  const at = c.held.findIndex((held) => held.account.address === user && held.index === index)
  if (at >= 0) c.held.splice(at, 1)
}

/** Picks the fields of a trade's fees that a valuation reads. */
export function valuedFees(data: TradeFeesData): TradeFeesData {
  const { realizedTradingFeesCollateral, realizedPnlCollateral, initialAccFundingFeeP, initialAccBorrowingFeeP } = data
  return { realizedTradingFeesCollateral, realizedPnlCollateral, initialAccFundingFeeP, initialAccBorrowingFeeP }
}

/** Returns the name of the custom error of a reverted call. */
export function revertName(error: unknown): string {
  if (error instanceof RevertedError) return error.errorName
  throw error
}
