import type { PairQuote } from '../../trading/market/pairQuote.ts'
import type { FeedFrame, PairPrice } from './parseFrame.ts'

/** The latest price of every pair that the feed knows, in memory. */
export interface PriceBook {
  get(pairIndex: number): PairQuote | undefined
  /** Whether a snapshot has filled it; until then closed markets have no price. */
  hasSnapshot(): boolean
  /** Grows with every change, so that what is made from the prices knows when it is out of date. */
  version(): number
  /** The quotes that a frame changed or confirmed. */
  applyTick(frame: FeedFrame & { readonly kind: 'prices' }, nowMs: number): readonly PairQuote[]
  /** Fills in what has not ticked since `sinceMs`: a snapshot is older than any tick that came after it was asked for. */
  applySnapshot(marks: readonly PairPrice[], indices: readonly PairPrice[], sinceMs: number, nowMs: number): void
}

export function createPriceBook(): PriceBook {
  const quotes = new Map<number, PairQuote>()
  let version = 0
  let hasSnapshot = false

  return {
    get: (pairIndex) => quotes.get(pairIndex),
    hasSnapshot: () => hasSnapshot,
    version: () => version,
    applyTick({ marks, indices }, nowMs) {
      const changed = new Map<number, PairQuote>()
      const put = (pairIndex: number, mark: bigint, index: bigint): void => {
        const quote = { pairIndex, mark, index, updatedAtMs: nowMs, tickedAtMs: nowMs }
        quotes.set(pairIndex, quote)
        changed.set(pairIndex, quote)
      }
      // Version 3 has no index prices: there the mark is all that is known. In version 4 a pair without one keeps what it had.
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
        const tickedAtMs = quotes.get(pairIndex)?.tickedAtMs
        if (tickedAtMs !== undefined && tickedAtMs >= sinceMs) continue
        quotes.set(pairIndex, {
          pairIndex,
          mark,
          index: indexOf.get(pairIndex) ?? mark,
          updatedAtMs: nowMs,
          tickedAtMs,
        })
      }
      version += 1
      hasSnapshot = true
    },
  }
}
