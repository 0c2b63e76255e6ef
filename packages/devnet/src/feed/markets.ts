import type { LocalPair } from '../listing/pairs.ts'
import { FeedInputError, quotedPrice } from './price.ts'
import { createTimeline, priceAt, type Timeline } from './timeline.ts'

/** A listed pair with its price. */
export interface FeedMarket {
  readonly pair: LocalPair
  readonly symbol: string
  readonly timeline: Timeline
}

/** Prices of a market at one instant, 1e10: trades use the mark, liquidations the index. */
export interface Quote {
  readonly pairIndex: number
  readonly mark: bigint
  readonly index: bigint
}

/** All markets, found by index or symbol. One that is not listed throws. */
interface FeedMarkets {
  readonly all: readonly FeedMarket[]
  byIndex(pairIndex: number): FeedMarket
  bySymbol(symbol: string): FeedMarket
}

const PPM = 1_000_000

/** The first pair index of the sleepy pairs. A listing that has no such pair has sleepy ones in its last quarter. */
const FIRST_SLEEPY_INDEX = 100

/** Returns the pairs whose price stands still in every second five minutes, in silence. */
export function sleepyPairs(pairs: readonly LocalPair[]): ReadonlySet<LocalPair> {
  const late = pairs.filter(({ index }) => index >= FIRST_SLEEPY_INDEX)
  return new Set(late.length > 0 ? late : pairs.slice(Math.ceil((pairs.length * 3) / 4)))
}

/** Creates the markets of the listed pairs, without any control applied. */
export function createFeedMarkets(pairs: readonly LocalPair[], seed: number): FeedMarkets {
  const sleepy = sleepyPairs(pairs)
  const all = pairs.map((pair) => {
    const timeline = createTimeline(pair, seed, sleepy.has(pair))
    return { pair, symbol: `${pair.from}/${pair.to}`, timeline }
  })
  const byIndex = new Map(all.map((market) => [market.pair.index, market]))
  const bySymbol = new Map(all.map((market) => [market.symbol, market]))
  return {
    all,
    byIndex: (pairIndex) => byIndex.get(pairIndex) ?? notListed(`No pair has the index ${pairIndex}.`),
    bySymbol: (symbol) =>
      bySymbol.get(symbol) ?? notListed(`No market is named ${JSON.stringify(symbol)}; one is "BTC/USD".`),
  }
}

/** Returns the prices of a market at an instant. */
export function quoteOf(market: FeedMarket, ms: number): Quote {
  const mark = priceAt(market.timeline, ms)
  return { pairIndex: market.pair.index, mark, index: indexOf(market.pair, mark) }
}

/**
 * Returns the index price that belongs to a mark. It keeps the order of marks, so extremes of one are extremes of the
 * other.
 */
export function indexOf({ indexBasisPpm }: LocalPair, mark: bigint): bigint {
  return indexBasisPpm === 0 ? mark : quotedPrice((mark * BigInt(PPM + indexBasisPpm)) / BigInt(PPM))
}

function notListed(sentence: string): never {
  throw new FeedInputError(sentence)
}
