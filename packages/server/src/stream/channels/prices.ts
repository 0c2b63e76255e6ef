import type { PairQuote, ChainMarkets, ListedMarket } from '../../trading/market/chainMarkets.ts'
import type { Tick } from '../../market/feed/feed.ts'
import { createRefCounted } from '../../ground/refCounted.ts'
import { priceRecord } from '../../trading/market/marketRecord.ts'
import type { Channel, SubscribePrices } from '../channel.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic, type Topic } from '../topics/topic.ts'

/** A channel that is subscribed to its source until it is closed. */
export interface PublicChannel<Message> extends Channel<Message> {
  close(): void
}

type PriceSources = Pick<PublicSources, 'markets' | 'feed'>

/** The price of one market while it has subscribers. */
interface SinglePrice {
  readonly topic: Topic
  readonly market: string
  readonly pairIndex: number
}

/** The name of the sequence of all markets, beside those of single ones. */
const ALL = ''

/**
 * Sends the prices of all markets, or of one, then those that change. Each sequence counts the messages published while
 * somebody subscribes to it, so it is the same for all sockets.
 */
export function createPricesChannel(sources: PriceSources, counts: ChannelCounts): PublicChannel<SubscribePrices> {
  const { markets, feed } = sources
  const all = createTopic({ snapshot: snapshotOfAll, counts })
  const singles = createRefCounted(openSingle)
  const changes = createPriceChanges(sources)
  const seqs = new Map<string, number>()
  let subscriptions = 0

  const seqOf = (market: string): number => seqs.get(market) ?? 0

  function headOf(market: string, isSnapshot: boolean): string {
    const named = market === ALL ? '' : `"market":"${market}",`
    return `{"channel":"prices",${named}"snapshot":${isSnapshot},"seq":${seqOf(market)},`
  }

  function snapshotOfAll(): string {
    // `{"data": Price[]}`, rendered once for each tick.
    return headOf(ALL, true) + markets.prices().toString('utf8').slice(1)
  }

  function openSingle(market: string): SinglePrice {
    const { pairIndex } = markets.listed(market)
    const snapshot = (): string => {
      // Throws when there are no prices.
      markets.prices()
      return `${headOf(market, true)}"data":[${changes.current(pairIndex) ?? ''}]}`
    }
    return { topic: createTopic({ snapshot, counts }), market, pairIndex }
  }

  function publish({ topic, market }: Pick<SinglePrice, 'topic' | 'market'>, data: string): void {
    seqs.set(market, seqOf(market) + 1)
    topic.publish(`${headOf(market, false)}"data":[${data}]}`)
  }

  function onTick(tick: Tick): void {
    if (subscriptions === 0) return
    const changed = changes.by(tick)
    if (changed.size > 0 && all.isWanted()) publish({ topic: all, market: ALL }, [...changed.values()].join(','))
    for (const single of singles.items()) {
      const text = changed.get(single.pairIndex)
      if (text !== undefined) publish(single, text)
    }
  }

  const close = feed.onTick(onTick)
  return {
    subscribe(connection, { market }) {
      // Throws when there are no prices.
      markets.prices()
      const topic = market === undefined ? all : singles.hold(market).topic
      if (subscriptions === 0) changes.noteAll()
      subscriptions += 1
      return topic.subscribe(connection, () => {
        subscriptions -= 1
        if (market !== undefined) singles.release(market)
      })
    },
    close,
  }
}

/** Finds the prices that differ from those that were told. */
interface PriceChanges {
  /** Takes all current prices for told, because the snapshots contain them. */
  noteAll(): void
  /** Returns the prices that a tick changed, as JSON by pair, and takes them for told. */
  by(tick: Tick): ReadonlyMap<number, string>
  /** Returns the current price of a pair as JSON; `undefined` when it has none, or is listed no more. */
  current(pairIndex: number): string | undefined
}

function createPriceChanges({ markets, feed }: PriceSources): PriceChanges {
  const told = new Map<number, PairQuote>()
  let listed: ReadonlyMap<number, ListedMarket> = new Map()
  let listedOf: ChainMarkets | undefined
  let bookVersion = 0

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

  function isNews({ pairIndex, mark, index }: PairQuote): boolean {
    const before = told.get(pairIndex)
    return listed.has(pairIndex) && (before === undefined || before.mark !== mark || before.index !== index)
  }

  function textOf(quote: PairQuote): string {
    return JSON.stringify(priceRecord(listed.get(quote.pairIndex)!, quote))
  }

  return {
    noteAll() {
      isAllDue()
      for (const quote of allQuotes()) told.set(quote.pairIndex, quote)
    },
    by({ quotes }) {
      const changed = (isAllDue() ? allQuotes() : quotes).filter(isNews)
      for (const quote of changed) told.set(quote.pairIndex, quote)
      return new Map(changed.map((quote) => [quote.pairIndex, textOf(quote)]))
    },
    current(pairIndex) {
      const quote = feed.book.get(pairIndex)
      // A price that was not told yet comes with the next tick: shown before, it would stay if it moved back by then.
      const shown = quote === undefined || isNews(quote) ? told.get(pairIndex) : quote
      return shown !== undefined && listed.has(pairIndex) ? textOf(shown) : undefined
    },
  }
}

function byPair(chain: ChainMarkets | undefined): ReadonlyMap<number, ListedMarket> {
  return new Map([...(chain?.markets.values() ?? [])].map((market) => [market.pairIndex, market]))
}
