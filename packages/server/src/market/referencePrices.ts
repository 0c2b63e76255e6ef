import type { ChainSlug, Price } from '@bezel/protocol'
import type { Store } from '../store/sql.ts'
import { keepReferencePrices, readReferencePrices } from '../store/referencePriceStore.ts'
import { FeedUnavailableError } from './feed/pages.ts'
import type { PriceBook } from './feed/priceBook.ts'

/** The reference prices (1e10) from which the price and size precisions of a chain's markets follow. */
export interface ReferencePrices {
  /**
   * Returns the prices by pair index, for the pairs that ever had one, and stores those of new pairs once the feed has
   * given its prices. Throws `FeedUnavailableError` when it has not, and none is stored.
   */
  of(pairIndices: readonly number[]): Promise<ReadonlyMap<number, Price>>
}

/**
 * Creates a function that returns a chain's reference prices. A pair's reference is the first price that the service
 * has of it: at a first start the close of its running candle, which `/charts` gives for all pairs in one request.
 */
export function createReferencePrices(of: {
  store: Store
  book: Pick<PriceBook, 'get'>
  /** Returns true once the book was filled from `/charts`, so that a pair without a price has none. */
  isFilled: () => boolean
}): (chain: ChainSlug) => ReferencePrices {
  return (chain) => {
    let kept: ReadonlyMap<number, Price> | undefined
    return {
      async of(pairIndices) {
        kept ??= await readReferencePrices(of.store, chain)
        const known = kept
        const missing = pairIndices.filter((pair) => !known.has(pair))
        if (missing.length === 0) return known
        if (!of.isFilled()) {
          if (known.size === 0) throw new FeedUnavailableError('the feed has not given its prices yet')
          return known
        }
        const found = new Map<number, Price>()
        for (const pair of missing) {
          const price = of.book.get(pair)?.mark
          if (price !== undefined) found.set(pair, price)
        }
        if (found.size > 0) kept = await keepReferencePrices(of.store, chain, found)
        return kept
      },
    }
  }
}
