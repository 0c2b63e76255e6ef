import type { ChainSlug } from '@bezel/protocol'
import type { Store } from '../store/sql.ts'
import { keepReferencePrices, readReferencePrices } from '../store/referencePriceStore.ts'
import { FeedUnavailableError, type FeedPages } from './feed/pages.ts'
import type { PriceBook } from './feed/priceBook.ts'

/** The prices (1e10) that fix a chain's precisions. */
export interface ReferencePrices {
  /** By pair index, for as many of the pairs as have one. Asks the feed for those not kept yet. */
  of(pairIndices: readonly number[]): Promise<ReferencePricesFound>
}

export interface ReferencePricesFound {
  readonly prices: ReadonlyMap<number, bigint>
  /** Whether the feed failed for some, so that asking again may give more. */
  readonly isIncomplete: boolean
}

/** Long enough to hold a session of every market, whatever the weekday and the holidays. */
const HISTORY_S = 7 * 86_400
const CANDLE_MINUTES = 60
/** Requests under way at once. */
const PARALLEL_REQUESTS = 4

/** Looks prices up in the feed's history, each pair once whatever the number of chains. */
export function createReferencePrices(of: {
  store: Store
  pages: Pick<FeedPages, 'firstClose'>
  book: Pick<PriceBook, 'get'>
  now: () => number
}): (chain: ChainSlug) => ReferencePrices {
  const asked = new Map<number, Promise<bigint | undefined>>()

  /** The first candle's close; where the feed has no history of the pair, the price it quotes now. */
  function ask(pairIndex: number): Promise<bigint | undefined> {
    const known = asked.get(pairIndex)
    if (known !== undefined) return known
    const toS = Math.floor(of.now() / 1_000)
    const answer = of.pages
      .firstClose(pairIndex, { fromS: toS - HISTORY_S, toS, minutes: CANDLE_MINUTES })
      .then((close) => close ?? of.book.get(pairIndex)?.mark)
    asked.set(pairIndex, answer)
    // What failed or was not there is asked for again.
    answer.then((price) => price ?? asked.delete(pairIndex)).catch(() => asked.delete(pairIndex))
    return answer
  }

  async function askAll(pairIndices: readonly number[]): Promise<ReferencePricesFound> {
    const prices = new Map<number, bigint>()
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
