import { setTimeout as sleep } from 'node:timers/promises'
import type { RecentTrade } from '@bezel/protocol'
import type { SubscribeMarket } from '../channel.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createRefCounted } from '../../ground/refCounted.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { subscribeLoaded, type LoadedTopic, createTopic } from '../topics/topic.ts'
import type { PublicChannel } from './prices.ts'

/** The last trades of one pair, while it has subscribers and up to a minute longer. */
interface Tape extends LoadedTopic {
  add(trades: readonly RecentTrade[]): void
  /** Reads all trades again after a reorganisation removed some, and sends every subscriber what is left. */
  reload(): Promise<void>
}

const SNAPSHOT_TRADES = 100

/** Pause before a failed read of the store is repeated. */
const RETRY_MS = 500

/**
 * Limits on tapes without subscribers. Reading a tape costs the store more than keeping it for clients that come and
 * go; 500 are enough for all markets, at 25 KB each.
 */
const KEEPING = { keptMs: 60_000, maxKept: 500 }

/** Sends the last trades of a market, newest first, and then each new one. */
export function createTradesChannel(
  { markets, trades }: Pick<PublicSources, 'markets' | 'trades'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const tapes = createRefCounted(openTape, { keeping: KEEPING })
  let isClosed = false

  function openTape(market: string): Tape {
    const { pairIndex } = markets.listed(market)
    /** Trades as JSON, newest first. */
    let texts: readonly string[] = []
    let early: RecentTrade[] | undefined
    let loads = 0
    const topic = createTopic({ counts, snapshot: () => messageOf(market, texts, true) })

    /**
     * Adds trades, oldest first. Trades are stored before they are announced, so one may already be part of what was
     * read; then it is ignored.
     */
    function add(added: readonly RecentTrade[]): void {
      if (early !== undefined) return void early.push(...added)
      const fresh = merge(added)
      if (fresh.length > 0) topic.publish(messageOf(market, fresh, false))
    }

    function merge(added: readonly RecentTrade[]): readonly string[] {
      const known = new Set(texts)
      const fresh = added.map((trade) => JSON.stringify(trade)).filter((text) => !known.has(text))
      fresh.reverse()
      texts = [...fresh, ...texts].slice(0, SNAPSHOT_TRADES)
      return fresh
    }

    /**
     * Reads the trades. Of several reads only the one that began last counts, and new trades wait for it. Returns true
     * when this read was the one.
     */
    async function load(): Promise<boolean> {
      early ??= []
      const mine = (loads += 1)
      const listed = await trades.list(pairIndex, SNAPSHOT_TRADES)
      if (mine !== loads) return false
      texts = listed.map((trade) => JSON.stringify(trade))
      const meanwhile = early ?? []
      early = undefined
      merge(meanwhile)
      return true
    }

    async function reload(): Promise<void> {
      try {
        if (await load()) topic.publish(messageOf(market, texts, true))
      } catch {
        await sleep(RETRY_MS, undefined, { ref: false })
        if (!isClosed) return reload()
      }
    }

    return { topic, add, reload, loaded: load() }
  }

  const stop = trades.onTrades((added) => {
    for (const [market, ofMarket] of Map.groupBy(added, ({ trade }) => trade.market)) {
      tapes.get(market)?.add(ofMarket.map(({ trade }) => trade))
    }
  })
  const stopTakenBack = trades.onTakenBack(() => {
    tapes.dropKept()
    for (const tape of tapes.items()) void tape.reload()
  })
  return {
    subscribe: (connection, { market }) => subscribeLoaded(tapes, market, connection),
    close() {
      isClosed = true
      stop()
      stopTakenBack()
    },
  }
}

function messageOf(market: string, texts: readonly string[], isSnapshot: boolean): string {
  return `{"channel":"trades","market":"${market}","snapshot":${isSnapshot},"data":[${texts.join(',')}]}`
}
