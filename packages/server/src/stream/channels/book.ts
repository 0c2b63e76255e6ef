import { ApiError, type OrderBook } from '@bezel/protocol'
import type { Tick } from '../../market/feed.ts'
import { DEFAULT_BOOK_LEVELS } from '../../market/orderBook.ts'
import type { SubscribeMarket } from '../channel.ts'
import { createLooks, type Lookable } from '../../ground/looks.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createShared } from '../../ground/shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic, type Topic } from '../topics/topic.ts'
import type { PublicChannel } from './prices.ts'

/** One market's book, while somebody listens. */
interface Depth extends Lookable {
  readonly topic: Topic
  readonly pairIndex: number
}

/** The whole book of a market at every change. Each market has a sequence of its own, which goes on when the last listener left. */
export function createBookChannel(
  { markets, feed }: Pick<PublicSources, 'markets' | 'feed'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const seqs = new Map<string, number>()
  const depths = createShared(openDepth)
  const looks = createLooks<Depth>()
  let listingVersion = markets.watch.version()

  const seqOf = (market: string): number => seqs.get(market) ?? 0
  const bookOf = (market: string): OrderBook => markets.book(market, DEFAULT_BOOK_LEVELS)

  function openDepth(market: string): Depth {
    let told = bookOf(market)
    const topic = createTopic({
      counts,
      snapshot() {
        // Nothing is shown while it could not be known.
        bookOf(market)
        // What was told with the present number: a newer book, told by nobody, would never be corrected when the price comes back.
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

  /** A market can be closed or go stale while somebody listens to it. */
  function tryBook(market: string): OrderBook | undefined {
    try {
      return bookOf(market)
    } catch (error) {
      if (error instanceof ApiError) return undefined
      throw error
    }
  }

  /** Marks change with ticks, bands only when the markets were read again. */
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

/** When it was made does not make it another one. */
function isSame(a: OrderBook, b: OrderBook): boolean {
  return a.markPrice === b.markPrice && JSON.stringify([a.bids, a.asks]) === JSON.stringify([b.bids, b.asks])
}
