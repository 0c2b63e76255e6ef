import { type Price } from '@bezel/protocol'
import type { PairQuote } from '../../trading/market/chainMarkets.ts'
import type { FeedFrame, PairPrice } from './parseFrame.ts'

/** The latest price of every pair that the feed knows, in memory. */
export interface PriceBook {
  /** Returns what the feed said last since the start; `undefined` when it said nothing. */
  get(pairIndex: number): PairQuote | undefined
  /**
   * Returns the last price of a pair, which may be one from before the start. It is for what opens nothing: closes,
   * reductions, stops and valuations.
   */
  last(pairIndex: number): PairQuote | undefined
  /** Takes over prices from before the start. They count only as last ones, until the feed says others. */
  recall(quotes: readonly PairQuote[]): void
  /** Returns a counter that grows with every change, so that values derived from prices know when they are outdated. */
  version(): number
  /** Applies a frame. Returns the quotes that it changed or confirmed. */
  applyTick(frame: FeedFrame & { readonly kind: 'prices' }, nowMs: number): readonly PairQuote[]
  /**
   * Fills in the pairs that have no price from after `sinceMs`, when the snapshot was requested: later ticks are newer
   * than the snapshot.
   */
  applySnapshot(marks: readonly PairPrice[], indices: readonly PairPrice[], sinceMs: number, nowMs: number): void
}

export function createPriceBook(): PriceBook {
  const quotes = new Map<number, PairQuote>()
  let recalled: ReadonlyMap<number, PairQuote> = new Map()
  let version = 0

  return {
    get: (pairIndex) => quotes.get(pairIndex),
    last: (pairIndex) => quotes.get(pairIndex) ?? recalled.get(pairIndex),
    version: () => version,
    recall(kept) {
      recalled = new Map(kept.map((quote) => [quote.pairIndex, quote]))
      version += 1
    },
    applyTick({ marks, indices }, nowMs) {
      const changed = new Map<number, PairQuote>()
      const put = (pairIndex: number, mark: Price, index: Price): void => {
        const quote = { pairIndex, mark, index, updatedAtMs: nowMs }
        quotes.set(pairIndex, quote)
        changed.set(pairIndex, quote)
      }
      // Version 3 has no index prices, so the mark serves as index. In version 4 a pair without one keeps the index it
      // had.
      for (const [pair, mark] of marks) put(pair, mark, (indices && quotes.get(pair)?.index) ?? mark)
      for (const [pair, index] of indices ?? []) {
        const mark = quotes.get(pair)?.mark
        if (mark !== undefined) put(pair, mark, index)
      }
      if (changed.size > 0) version += 1
      return [...changed.values()]
    },
    applySnapshot(marks, indices, sinceMs, nowMs) {
      const indexOf = new Map(indices)
      for (const [pairIndex, mark] of marks) {
        const known = quotes.get(pairIndex)
        if (known !== undefined && known.updatedAtMs >= sinceMs) continue
        quotes.set(pairIndex, { pairIndex, mark, index: indexOf.get(pairIndex) ?? mark, updatedAtMs: nowMs })
      }
      version += 1
    },
  }
}
