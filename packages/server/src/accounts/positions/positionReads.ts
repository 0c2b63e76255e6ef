import type { LivePosition } from '../../trading/positions/positionModel.ts'
import type { Address, Position } from '@bezel/protocol'
import { unpooledBytes } from '../../ground/unpooledBytes.ts'
import type { ChainMarkets } from '../../trading/market/chainMarkets.ts'
import type { Freshness } from '../../market/freshness.ts'
import { notReady, type NotReadyReason } from '../../ground/unavailable.ts'
import type { Moment } from '../../trading/valuation/chainState.ts'
import type { LivePositions } from './livePositions.ts'
import {
  lastPrices,
  pairOf,
  positionAnswer,
  valuationMoment,
  type FollowedHead,
  type PositionPrices,
} from '../../trading/positions/positionAnswer.ts'

/**
 * A chain's open positions as the interface shows them, valued now. All methods throw `NOT_READY` while a valuation is
 * not possible.
 */
export interface PositionReads {
  /** Returns the trader's positions, oldest first. */
  ofTrader(trader: Address): Position[]
  /** Returns the same positions as the bytes of `{"data": Position[]}`. */
  listOf(trader: Address): Buffer
  /** Returns the same positions without their values, for whoever needs only some of them. */
  openOf(trader: Address): readonly LivePosition[]
  /** Returns one of them as JSON, valued. */
  textOf(position: LivePosition): string
  /** Values one position; it may also be a projected one that does not exist yet. */
  answer(position: LivePosition): Position
}

export interface PositionReadsOptions {
  readonly live: Pick<LivePositions, 'ofTrader'>
  readonly freshness: Pick<Freshness, 'loaded' | 'lastQuote'>
  /** Returns the last followed block. */
  readonly head: () => FollowedHead
  /** Returns the reason why the followed state can't be trusted now; `undefined` while it can. */
  readonly followerReason: () => NotReadyReason | undefined
  /** Returns a counter that grows with every change of a price. */
  readonly priceVersion: () => number
  readonly now: () => number
}

/** A valuation, with every input it depends on besides the position itself. */
interface Valuation {
  readonly chain: ChainMarkets
  readonly at: Moment
  readonly prices: PositionPrices
  readonly text: string
}

/** The bytes of a trader's list, with every input they depend on: the same input objects mean the same bytes. */
interface List {
  readonly valuations: readonly Valuation[]
  readonly bytes: Buffer
  /** Inputs of the whole list: while all four below still hold, the bytes are current. */
  readonly chain: ChainMarkets
  readonly at: Moment
  readonly priceVersion: number
  readonly goodUntilMs: number
}

/**
 * The longest time that a list is reused without a look at its inputs. A chain lags by the clock alone, and this bounds
 * how late that is noticed.
 */
const LIST_MS = 50

const EMPTY_LIST = Buffer.from('{"data":[]}')

/**
 * Caches valuations, and whole lists, until a price, a block or the markets change: a polling client then costs one
 * comparison per position instead of a valuation. The caches are keyed by the position and by the trader's array of
 * positions, which are both replaced with every change.
 */
export function createPositionReads(options: PositionReadsOptions): PositionReads {
  const { live, freshness, head, followerReason } = options
  const valuations = new WeakMap<LivePosition, Valuation>()
  const lists = new WeakMap<readonly LivePosition[], List>()

  function requireFollower(): void {
    const reason = followerReason()
    if (reason !== undefined) throw notReady(reason)
  }

  function valuationOf(position: LivePosition, chain: ChainMarkets, at: Moment): Valuation {
    const prices = pricesOf(freshness, position, chain)
    const known = valuations.get(position)
    if (known?.chain === chain && isSameMoment(known.at, at) && isSamePrice(known.prices, prices)) return known
    const text = JSON.stringify(valueOf(position, chain, prices, at))
    const made = { chain, at, prices, text }
    valuations.set(position, made)
    return made
  }

  function isGood(list: List, chain: ChainMarkets, at: Moment): boolean {
    return (
      list.chain === chain &&
      isSameMoment(list.at, at) &&
      list.priceVersion === options.priceVersion() &&
      options.now() < list.goodUntilMs
    )
  }

  /** Checks every price, and reuses the bytes when none of them moved. */
  function makeList(positions: readonly LivePosition[], chain: ChainMarkets, at: Moment): List {
    const [priceVersion, goodUntilMs] = [options.priceVersion(), options.now() + LIST_MS]
    const made = positions.map((position) => valuationOf(position, chain, at))
    const known = lists.get(positions)
    const isSame = known !== undefined && made.every((valuation, i) => valuation === known.valuations[i])
    const bytes = isSame ? known.bytes : unpooledBytes(`{"data":[${made.map(({ text }) => text).join(',')}]}`)
    const list = { valuations: made, bytes, chain, at, priceVersion, goodUntilMs }
    lists.set(positions, list)
    return list
  }

  function answer(position: LivePosition): Position {
    requireFollower()
    const chain = freshness.loaded()
    return valueOf(position, chain, pricesOf(freshness, position, chain), valuationMoment(chain, head()))
  }

  return {
    answer,
    ofTrader(trader) {
      requireFollower()
      return live.ofTrader(trader).map(answer)
    },
    openOf(trader) {
      requireFollower()
      return live.ofTrader(trader)
    },
    textOf(position) {
      requireFollower()
      const chain = freshness.loaded()
      return valuationOf(position, chain, valuationMoment(chain, head())).text
    },
    listOf(trader) {
      requireFollower()
      const positions = live.ofTrader(trader)
      if (positions.length === 0) return EMPTY_LIST
      const chain = freshness.loaded()
      const at = valuationMoment(chain, head())
      const known = lists.get(positions)
      if (known !== undefined && isGood(known, chain, at)) return known.bytes
      return makeList(positions, chain, at).bytes
    },
  }
}

function pricesOf(
  freshness: Pick<Freshness, 'lastQuote'>,
  position: LivePosition,
  chain: ChainMarkets,
): PositionPrices {
  const pair = pairOf(position, chain)
  // The pair was listed moments ago; the listing is read again soon.
  if (pair === undefined) throw notReady('starting')
  return lastPrices(position, freshness.lastQuote(pair))
}

function isSamePrice(a: PositionPrices, b: PositionPrices): boolean {
  return a.mark === b.mark && a.index === b.index && a.updatedAtMs === b.updatedAtMs
}

function valueOf(position: LivePosition, chain: ChainMarkets, prices: PositionPrices, at: Moment): Position {
  const answer = positionAnswer(position, chain, prices, at)
  if (answer === undefined) throw notReady('starting')
  return answer
}

function isSameMoment(a: Moment, b: Moment): boolean {
  return a.timestampS === b.timestampS && a.blockNumber === b.blockNumber
}
