import type { RecentTrade } from '@bezel/protocol'
import type { SubscribeMarket } from '../channel.ts'
import type { PublicSources } from '../publicSources.ts'
import { createShared } from '../shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { subscribeLoaded, type LoadedTopic } from '../subscribeLoaded.ts'
import { createTopic } from '../topic.ts'
import type { PublicChannel } from './prices.ts'

/** One pair's last trades, while somebody listens. */
interface Tape extends LoadedTopic {
  add(trades: readonly RecentTrade[]): void
}

const SNAPSHOT_TRADES = 100

/** The last trades of a market, newest first, and then each new one. */
export function createTradesChannel(
  { markets, trades }: Pick<PublicSources, 'markets' | 'trades'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const tapes = createShared(openTape)

  function openTape(market: string): Tape {
    const { pairIndex } = markets.listed(market)
    /** JSON, newest first. */
    let texts: readonly string[] = []
    let early: RecentTrade[] | undefined = []
    const topic = createTopic({ counts, snapshot: () => messageOf(market, texts, true) })

    /** Oldest first. What is written before it is told can be in what was read, too: then it is known already. */
    function add(added: readonly RecentTrade[]): void {
      if (early !== undefined) return void early.push(...added)
      const known = new Set(texts)
      const fresh = added.map((trade) => JSON.stringify(trade)).filter((text) => !known.has(text))
      if (fresh.length === 0) return
      fresh.reverse()
      texts = [...fresh, ...texts].slice(0, SNAPSHOT_TRADES)
      topic.publish(messageOf(market, fresh, false))
    }

    async function load(): Promise<void> {
      const listed = await trades.list(pairIndex, SNAPSHOT_TRADES)
      texts = listed.map((trade) => JSON.stringify(trade))
      const meanwhile = early ?? []
      early = undefined
      add(meanwhile)
    }

    return { topic, add, loaded: load() }
  }

  const close = trades.onTrades((added) => {
    for (const [market, ofMarket] of Map.groupBy(added, ({ trade }) => trade.market)) {
      tapes.get(market)?.add(ofMarket.map(({ trade }) => trade))
    }
  })
  return {
    subscribe: (connection, { market }) => subscribeLoaded(tapes, market, connection),
    close,
  }
}

function messageOf(market: string, texts: readonly string[], isSnapshot: boolean): string {
  return `{"channel":"trades","market":"${market}","snapshot":${isSnapshot},"data":[${texts.join(',')}]}`
}
