import { ApiError, type OrderBook } from '@bezel/protocol'
import type { Tick } from '../../market/feed/feed.ts'
import { DEFAULT_BOOK_LEVELS } from '../../market/orderBook.ts'
import type { SubscribeMarket } from '../channel.ts'
import { createCoalescer } from '../../ground/coalesce.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createRefCounted } from '../../ground/refCounted.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic, type Topic } from '../topics/topic.ts'
import type { PublicChannel } from './prices.ts'

/** The book of one market while it has subscribers. */
interface Depth {
  readonly topic: Topic
  readonly pairIndex: number
  /** Publishes the book when it has changed. */
  look(): void
}

/**
 * Publishes the whole book of a market at every change. Each market has its own sequence, which continues after the
 * last subscriber has left.
 */
export function createBookChannel(
  { markets, feed }: Pick<PublicSources, 'markets' | 'feed'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const seqs = new Map<string, number>()
  const depths = createRefCounted(openDepth)
  const looks = createCoalescer((depth: Depth) => depth.look())
  let listingVersion = markets.watch.version()

  const seqOf = (market: string): number => seqs.get(market) ?? 0
  const bookOf = (market: string): OrderBook => markets.book(market, DEFAULT_BOOK_LEVELS)

  function openDepth(market: string): Depth {
    let told = bookOf(market)
    const topic = createTopic({
      counts,
      snapshot() {
        // Throws when the book is not known now, so that no outdated book is sent.
        bookOf(market)
        // The snapshot is the book that was published with the current sequence number. A newer, unpublished book would
        // never be corrected if the price moved back.
        return messageOf(told, true)
      },
    })

    function look(): void {
      const book = topic.isWanted() ? tryBook(market) : undefined
      if (book === undefined || isSame(book, told)) return
      told = book
      seqs.set(market, seqOf(market) + 1)
      topic.publish(messageOf(book, false))
    }

    return { topic, look, pairIndex: markets.listed(market).pairIndex }
  }

  function messageOf(book: OrderBook, isSnapshot: boolean): string {
    const { market } = book
    return `{"channel":"book","market":"${market}","snapshot":${isSnapshot},"seq":${seqOf(market)},"data":${JSON.stringify(book)}}`
  }

  /** Returns the book; `undefined` when the market was closed or went stale while it has subscribers. */
  function tryBook(market: string): OrderBook | undefined {
    try {
      return bookOf(market)
    } catch (error) {
      if (error instanceof ApiError) return undefined
      throw error
    }
  }

  /**
   * Checks the books of the pairs that ticked. Marks change with ticks; bands only when the markets were read again,
   * and then all books are checked.
   */
  function onTick({ quotes }: Tick): void {
    const version = markets.watch.version()
    const ticked = version === listingVersion ? new Set(quotes.map(({ pairIndex }) => pairIndex)) : undefined
    listingVersion = version
    looks.add([...depths.items()].filter(({ pairIndex }) => ticked?.has(pairIndex) ?? true))
  }

  const stop = feed.onTick(onTick)
  return {
    subscribe(connection, { market }) {
      return depths.hold(market).topic.subscribe(connection, () => depths.release(market))
    },
    close() {
      stop()
      looks.close()
    },
  }
}

/** Compares two books without their timestamps. */
function isSame(a: OrderBook, b: OrderBook): boolean {
  return a.markPrice === b.markPrice && JSON.stringify([a.bids, a.asks]) === JSON.stringify([b.bids, b.asks])
}
