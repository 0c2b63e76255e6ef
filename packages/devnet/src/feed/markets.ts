import type { ListedPair } from '../listing/pairs.ts'
import { FeedInputError, quotedPrice } from './price.ts'
import { createTimeline, priceAt, type Timeline } from './timeline.ts'

/** A listed pair with its price. */
export interface Market {
  readonly pair: ListedPair
  readonly symbol: string
  readonly timeline: Timeline
}

/** Prices of a market at one instant, 1e10: the mark trades, the index liquidates. */
export interface Quote {
  readonly pairIndex: number
  readonly mark: bigint
  readonly index: bigint
}

/** All markets, found by index or symbol; one that is not listed throws. */
export interface Markets {
  readonly all: readonly Market[]
  byIndex(pairIndex: number): Market
  bySymbol(symbol: string): Market
}

const PPM = 1_000_000

/** Untouched markets of the listed pairs. */
export function createMarkets(pairs: readonly ListedPair[], seed: number): Markets {
  const all = pairs.map((pair) => ({ pair, symbol: `${pair.from}/${pair.to}`, timeline: createTimeline(pair, seed) }))
  const byIndex = new Map(all.map((market) => [market.pair.index, market]))
  const bySymbol = new Map(all.map((market) => [market.symbol, market]))
  return {
    all,
    byIndex: (pairIndex) => byIndex.get(pairIndex) ?? notListed(`No pair has the index ${pairIndex}.`),
    bySymbol: (symbol) =>
      bySymbol.get(symbol) ?? notListed(`No market is named ${JSON.stringify(symbol)}; one is "BTC/USD".`),
  }
}

/** What stood at an instant. */
export function quoteOf(market: Market, ms: number): Quote {
  const mark = priceAt(market.timeline, ms)
  return { pairIndex: market.pair.index, mark, index: indexOf(market.pair, mark) }
}

/** The index price that goes with a mark. It keeps the order of marks, so extremes of the one are extremes of the other. */
export function indexOf({ indexBasisPpm }: ListedPair, mark: bigint): bigint {
  return indexBasisPpm === 0 ? mark : quotedPrice((mark * BigInt(PPM + indexBasisPpm)) / BigInt(PPM))
}

function notListed(sentence: string): never {
  throw new FeedInputError(sentence)
}
