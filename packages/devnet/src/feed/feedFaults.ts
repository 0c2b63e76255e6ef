import type { LocalPair } from '../listing/pairs.ts'
import { FeedInputError } from './price.ts'

/** Faults of the feed, pair by pair. They concern what the feed tells; the prices themselves go on. */
export interface FeedFaults {
  /** Breaks the history page of a market, which then answers 500, or mends it. */
  breakHistory(symbol: string, broken: boolean): void
  /** Leaves a market out of `/charts` and of the stream, or takes it in again. */
  hide(symbol: string, hidden: boolean): void
  isHistoryBroken(pairIndex: number): boolean
  isHidden(pairIndex: number): boolean
}

/** Creates a feed's faults: none yet. A symbol that is not listed throws `FeedInputError`. */
export function createFeedFaults(pairs: readonly LocalPair[]): FeedFaults {
  const broken = new Set<number>()
  const hidden = new Set<number>()

  function mark(set: Set<number>, symbol: string, isMarked: boolean): void {
    const pair = pairs.find(({ from, to }) => `${from}/${to}` === symbol)
    if (pair === undefined) throw new FeedInputError(`No market is named ${JSON.stringify(symbol)}; one is "BTC/USD".`)
    if (isMarked) set.add(pair.index)
    else set.delete(pair.index)
  }

  return {
    breakHistory: (symbol, isBroken) => mark(broken, symbol, isBroken),
    hide: (symbol, isHidden) => mark(hidden, symbol, isHidden),
    isHistoryBroken: (pairIndex) => broken.has(pairIndex),
    isHidden: (pairIndex) => hidden.has(pairIndex),
  }
}
