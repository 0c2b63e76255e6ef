import type { PairQuote, ChainMarkets, ListedMarket } from '../../trading/market/chainMarkets.ts'
import type { Tick } from '../../market/feed/feed.ts'
import { priceRecord } from '../../trading/market/marketRecord.ts'
import type { Channel, SubscribePrices } from '../channel.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic } from '../topics/topic.ts'

/** A channel that is subscribed to its source until it is closed. */
export interface PublicChannel<Message> extends Channel<Message> {
  close(): void
}

/**
 * Sends the prices of all markets, then those that change. The sequence counts the messages published while the channel
 * has subscribers, so it is the same for all sockets.
 */
export function createPricesChannel(
  { markets, feed }: Pick<PublicSources, 'markets' | 'feed'>,
  counts: ChannelCounts,
): PublicChannel<SubscribePrices> {
  const topic = createTopic({ snapshot, counts })
  const told = new Map<number, PairQuote>()
  let listed: ReadonlyMap<number, ListedMarket> = new Map()
  let listedOf: ChainMarkets | undefined
  let bookVersion = 0
  let seq = 0

  function snapshot(): string {
    // `{"data": Price[]}`, rendered once for each tick.
    const data = markets.prices().toString('utf8').slice(1)
    return `{"channel":"prices","snapshot":true,"seq":${seq},${data}`
  }

  /**
   * Returns true when all markets must be checked. A tick names the pairs that changed, except for those that a
   * snapshot of the feed filled in and for new markets.
   */
  function isAllDue(): boolean {
    const chain = markets.watch.current()
    const version = feed.book.version()
    const isDue = chain !== listedOf || version !== bookVersion + 1
    if (chain !== listedOf) listed = byPair(chain)
    listedOf = chain
    bookVersion = version
    return isDue
  }

  function allQuotes(): readonly PairQuote[] {
    return [...listed.keys()].flatMap((pairIndex) => feed.book.get(pairIndex) ?? [])
  }

  function onTick({ quotes }: Tick): void {
    if (!topic.isWanted()) return
    const changed = (isAllDue() ? allQuotes() : quotes).filter(isNews)
    if (changed.length === 0) return
    for (const quote of changed) told.set(quote.pairIndex, quote)
    const data = changed.map((quote) => priceRecord(listed.get(quote.pairIndex)!, quote))
    seq += 1
    topic.publish(`{"channel":"prices","snapshot":false,"seq":${seq},"data":${JSON.stringify(data)}}`)
  }

  function isNews({ pairIndex, mark, index }: PairQuote): boolean {
    const before = told.get(pairIndex)
    return listed.has(pairIndex) && (before === undefined || before.mark !== mark || before.index !== index)
  }

  /** Records all current prices as sent, because the snapshot contains them. */
  function noteAll(): void {
    isAllDue()
    for (const quote of allQuotes()) told.set(quote.pairIndex, quote)
  }

  const close = feed.onTick(onTick)
  return {
    subscribe(connection) {
      // Throws when there are no prices.
      markets.prices()
      if (!topic.isWanted()) noteAll()
      return topic.subscribe(connection)
    },
    close,
  }
}

function byPair(chain: ChainMarkets | undefined): ReadonlyMap<number, ListedMarket> {
  return new Map([...(chain?.markets.values() ?? [])].map((market) => [market.pairIndex, market]))
}
