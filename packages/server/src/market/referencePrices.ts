import type { ChainSlug, Price } from '@bezel/protocol'
import type { Store } from '../store/sql.ts'
import { keepReferencePrices, readReferencePrices } from '../store/referencePriceStore.ts'
import { FeedUnavailableError, type FeedPages } from './feed/pages.ts'
import type { PriceBook } from './feed/priceBook.ts'

/** The reference prices (1e10) from which the price and size precisions of a chain's markets follow. */
export interface ReferencePrices {
  /** Returns the prices by pair index, for the pairs that have one. Asks the feed for those that are not stored yet. */
  of(pairIndices: readonly number[]): Promise<ReferencePricesFound>
}

export interface ReferencePricesFound {
  readonly prices: ReadonlyMap<number, Price>
  /** True when the feed failed for some pairs, so that a later call may find more. */
  readonly isIncomplete: boolean
}

/** Length of the history to search. One week holds a session of every market, whatever the weekday and the holidays. */
const HISTORY_S = 7 * 86_400
const CANDLE_MINUTES = 60
/** The number of concurrent requests. */
const PARALLEL_REQUESTS = 4

/**
 * Creates a function that returns a chain's reference prices, which come from the feed's history. Each pair is
 * requested once, whatever the number of chains.
 */
export function createReferencePrices(of: {
  store: Store
  pages: Pick<FeedPages, 'firstClose'>
  book: Pick<PriceBook, 'get'>
  now: () => number
}): (chain: ChainSlug) => ReferencePrices {
  const asked = new Map<number, Promise<Price | undefined>>()

  /** Returns the close of the oldest candle; where the feed has no history of the pair, its current price. */
  function ask(pairIndex: number): Promise<Price | undefined> {
    const known = asked.get(pairIndex)
    if (known !== undefined) return known
    const toS = Math.floor(of.now() / 1_000)
    const answer = of.pages
      .firstClose(pairIndex, { fromS: toS - HISTORY_S, toS, minutes: CANDLE_MINUTES })
      .then((close) => close ?? of.book.get(pairIndex)?.mark)
    asked.set(pairIndex, answer)
    // A request that failed or found nothing is repeated by the next call.
    answer.then((price) => price ?? asked.delete(pairIndex)).catch(() => asked.delete(pairIndex))
    return answer
  }

  async function askAll(pairIndices: readonly number[]): Promise<ReferencePricesFound> {
    const prices = new Map<number, Price>()
    const waiting = [...pairIndices]
    let isIncomplete = false
    const lane = async (): Promise<void> => {
      for (let pair = waiting.shift(); pair !== undefined; pair = waiting.shift()) {
        try {
          const price = await ask(pair)
          if (price !== undefined) prices.set(pair, price)
        } catch (error) {
          if (!(error instanceof FeedUnavailableError)) throw error
          isIncomplete = true
        }
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_REQUESTS }, lane))
    return { prices, isIncomplete }
  }

  return (chain) => ({
    async of(pairIndices) {
      const kept = await readReferencePrices(of.store, chain)
      const missing = pairIndices.filter((pair) => !kept.has(pair))
      if (missing.length === 0) return { prices: kept, isIncomplete: false }
      const { prices, isIncomplete } = await askAll(missing)
      return { prices: await keepReferencePrices(of.store, chain, prices), isIncomplete }
    },
  })
}
