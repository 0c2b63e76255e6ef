import { ApiError, type OrderBook } from '@bezel/protocol'
import type { Tick } from '../../market/feed.ts'
import { DEFAULT_BOOK_LEVELS } from '../../market/orderBook.ts'
import type { SubscribeMarket } from '../channel.ts'
import type { PublicSources } from '../publicSources.ts'
import { createShared } from '../shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic, type Topic } from '../topic.ts'
import type { PublicChannel } from './prices.ts'

/** One market's book, while somebody listens. */
interface Depth {
  readonly topic: Topic
  readonly pairIndex: number
  /** Publishes the book if it is another one. */
  look(): void
}

/** The whole book of a market at every change. Each market has a sequence of its own, which goes on when the last listener left. */
export function createBookChannel(
  { markets, feed }: Pick<PublicSources, 'markets' | 'feed'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const seqs = new Map<string, number>()
  const depths = createShared(openDepth)
  let listingVersion = markets.watch.version()

  function openDepth(market: string): Depth {
    const first = bookOf(market)
    let told = levelsOf(first)
    const topic = createTopic({ counts, snapshot: () => messageOf(bookOf(market), true) })

    function look(): void {
      const book = tryBook(market)
      if (book === undefined) return
      const levels = levelsOf(book)
      if (levels === told) return
      told = levels
      seqs.set(market, seqOf(market) + 1)
      topic.publish(messageOf(book, false))
    }

    return { topic, look, pairIndex: markets.listed(market).pairIndex }
  }

  const seqOf = (market: string): number => seqs.get(market) ?? 0
  const bookOf = (market: string): OrderBook => markets.book(market, DEFAULT_BOOK_LEVELS)

  function messageOf(book: OrderBook, isSnapshot: boolean): string {
    const { market } = book
    return `{"channel":"book","market":"${market}","snapshot":${isSnapshot},"seq":${seqOf(market)},"data":${JSON.stringify(book)}}`
  }

  /** A market can be closed or go stale while somebody listens to it. */
  function tryBook(market: string): OrderBook | undefined {
    try {
      return bookOf(market)
    } catch (error) {
      if (error instanceof ApiError) return undefined
      throw error
    }
  }

  function onTick({ quotes }: Tick): void {
    const version = markets.watch.version()
    const ticked = version === listingVersion ? new Set(quotes.map(({ pairIndex }) => pairIndex)) : undefined
    listingVersion = version
    for (const { pairIndex, look } of depths.items()) if (ticked?.has(pairIndex) ?? true) look()
  }

  return {
    subscribe(connection, { market }) {
      bookOf(market)
      return depths.hold(market).topic.subscribe(connection, () => depths.release(market))
    },
    close: feed.onTick(onTick),
  }
}

/** What makes a book another one: not when it was made. */
function levelsOf({ markPrice, bids, asks }: OrderBook): string {
  return JSON.stringify([markPrice, bids, asks])
}
