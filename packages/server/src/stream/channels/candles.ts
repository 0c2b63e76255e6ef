import { CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import type { SubscribeCandles, Subscription } from '../channel.ts'
import type { Connection } from '../connection.ts'
import type { PublicSources } from '../publicSources.ts'
import { createShared } from '../shared.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { createTopic, type Topic } from '../topic.ts'
import type { PublicChannel } from './prices.ts'

/** The candles of one market at one interval, while somebody listens. */
interface Chart {
  readonly topic: Topic
  readonly pairIndex: number
  /** Once it is there, `look` goes on from it. */
  readonly loaded: Promise<void>
  /** Publishes the current candle if it is another one. */
  look(): void
}

const SNAPSHOT_CANDLES = 100

/** The last candles of a market, oldest first, and then the current one whenever it changed. */
export function createCandlesChannel(
  { markets, candles }: Pick<PublicSources, 'markets' | 'candles'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeCandles> {
  const charts = createShared(openChart)

  function openChart(key: string): Chart {
    const [market = '', interval] = key.split(' ') as [string, CandleInterval]
    const { pairIndex } = markets.listed(market)
    let known: readonly Candle[] = []
    let isLoaded = false
    const topic = createTopic({ counts, snapshot: () => messageOf(market, interval, known, true) })

    function look(): void {
      const current = candles.current(pairIndex, interval)
      const last = known.at(-1)
      if (!isLoaded || current === undefined || isSame(current, last)) return
      const changed = [...carried(last, current, CANDLE_INTERVALS[interval]), current]
      const kept = known.filter(({ time }) => time < changed[0]!.time)
      known = [...kept, ...changed].slice(-SNAPSHOT_CANDLES)
      topic.publish(messageOf(market, interval, changed, false))
    }

    async function load(): Promise<void> {
      known = await candles.recent(pairIndex, interval, SNAPSHOT_CANDLES)
      isLoaded = true
      look()
    }

    return { topic, pairIndex, look, loaded: load() }
  }

  async function open(connection: Connection, key: string): Promise<Subscription> {
    const chart = charts.hold(key)
    const release = (): void => charts.release(key)
    try {
      await chart.loaded
    } catch (error) {
      release()
      throw error
    }
    return chart.topic.subscribe(connection, release)
  }

  const close = candles.onChange((pairIndexes) => {
    const changed = new Set(pairIndexes)
    for (const { pairIndex, look } of charts.items()) if (changed.has(pairIndex)) look()
  })
  return {
    subscribe(connection, { market, interval }) {
      // Throws when there is no such market.
      markets.listed(market)
      return open(connection, `${market} ${interval}`)
    },
    close,
  }
}

/** Intervals in which nothing ticked have the close before them, as everywhere. */
function carried(last: Candle | undefined, current: Candle, widthMs: number): Candle[] {
  if (last === undefined) return []
  const { close } = last
  const gaps = Math.min(Math.floor((current.time - last.time) / widthMs) - 1, SNAPSHOT_CANDLES)
  return Array.from({ length: Math.max(0, gaps) }, (_, at) => ({
    time: current.time - (gaps - at) * widthMs,
    open: close,
    high: close,
    low: close,
    close,
  }))
}

function isSame(a: Candle, b: Candle | undefined): boolean {
  return (
    b !== undefined &&
    a.time === b.time &&
    a.open === b.open &&
    a.high === b.high &&
    a.low === b.low &&
    a.close === b.close
  )
}

function messageOf(market: string, interval: CandleInterval, candles: readonly Candle[], isSnapshot: boolean): string {
  return `{"channel":"candles","market":"${market}","interval":"${interval}","snapshot":${isSnapshot},"data":${JSON.stringify(candles)}}`
}
