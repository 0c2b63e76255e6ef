import type { Price } from '@bezel/protocol'
import type { FeedPages } from './feed/pages.ts'
import type { PriceBook } from './feed/priceBook.ts'

/** The second witness of prices: the feed's page with the current price of every pair. */
export interface PriceWitness {
  /**
   * Reads the price of a pair whose last price is old; `undefined` for any other pair, where none is needed, and when
   * the page can't be read or has no price of the pair.
   */
  priceOf(pairIndex: number): Promise<Price | undefined>
}

interface PriceWitnessOptions {
  readonly pages: Pick<FeedPages, 'snapshot'>
  readonly book: Pick<PriceBook, 'get'>
  /** Age from which a price needs a witness. */
  readonly quietMs: number
  readonly now: () => number
}

/** The time for which one reading of the page serves all pairs and all orders, also a reading that failed. */
export const READING_MS = 10_000

type Prices = ReadonlyMap<number, Price>

/** Creates the witness. It is asked at most every 10 seconds, whatever number of orders wait for it. */
export function createPriceWitness({ pages, book, quietMs, now }: PriceWitnessOptions): PriceWitness {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<Prices> = Promise.resolve(new Map())

  function read(): Promise<Prices> {
    if (now() - askedAtMs < READING_MS) return reading
    askedAtMs = now()
    reading = pages.snapshot().then(
      ({ marks }) => new Map(marks),
      () => new Map(),
    )
    return reading
  }

  return {
    async priceOf(pairIndex) {
      const quote = book.get(pairIndex)
      const isQuiet = quote !== undefined && now() - quote.updatedAtMs > quietMs
      return isQuiet ? (await read()).get(pairIndex) : undefined
    },
  }
}
