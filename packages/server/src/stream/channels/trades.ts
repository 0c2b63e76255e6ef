import { setTimeout as sleep } from 'node:timers/promises'
import type { RecentTrade } from '@bezel/protocol'
import type { SubscribeMarket } from '../channel.ts'
import type { PublicSources } from '../topics/publicSources.ts'
import { createShared } from '../../ground/shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { subscribeLoaded, type LoadedTopic } from '../topics/subscribeLoaded.ts'
import { createTopic } from '../topics/topic.ts'
import type { PublicChannel } from './prices.ts'

/** One pair's last trades, while somebody listens and a while longer. */
interface Tape extends LoadedTopic {
  add(trades: readonly RecentTrade[]): void
  /** Trades were taken back: everybody gets what is left. */
  reload(): Promise<void>
}

const SNAPSHOT_TRADES = 100

/** A store that can't be read is asked again this much later. */
const RETRY_MS = 500

/** To read a tape costs the store more than to keep it for who comes and goes: all markets' tapes, 25 KB each. */
const KEEPING = { keptMs: 60_000, maxKept: 500 }

/** The last trades of a market, newest first, and then each new one. */
export function createTradesChannel(
  { markets, trades }: Pick<PublicSources, 'markets' | 'trades'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeMarket> {
  const tapes = createShared(openTape, KEEPING)
  let isClosed = false

  function openTape(market: string): Tape {
    const { pairIndex } = markets.listed(market)
    /** JSON, newest first. */
    let texts: readonly string[] = []
    let early: RecentTrade[] | undefined
    let loads = 0
    const topic = createTopic({ counts, snapshot: () => messageOf(market, texts, true) })

    /** Oldest first. What is written before it is told can be in what was read, too: then it is known already. */
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

    /** The last one that was begun counts; until it is there, what comes meanwhile waits. Whether this was it. */
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
