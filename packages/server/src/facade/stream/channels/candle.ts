import type { Subscription, Connection } from '../../../stream/channel.ts'
import { createCoalescer } from '../../../ground/coalesce.ts'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { type Coin, coinsOf } from '../../coins.ts'
import {
  type FacadeInterval,
  aggregate,
  FACADE_INTERVALS,
  isFacadeInterval,
  type FacadeWidth,
  readSourceCandles,
} from '../../info/facadeCandles.ts'
import { channelText, requiredCoin, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { MalformedInfoError } from '../../info/infoRequest.ts'
import { createSingleFlight } from '../../../ground/singleFlight.ts'
import type { Candle, CandleInterval } from '@bezel/protocol'
import { notReady } from '../../../ground/unavailable.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { facadeCandle } from '../../info/candleSnapshot.ts'

/** Creates the channel of current candles, which sends a candle whenever it changes. */
export function createCandle(
  { reads, candles, onError }: Pick<FacadeStreamSources, 'reads' | 'candles' | 'onError'>,
  counts: ChannelCounts,
): FacadeChannel {
  const looks = createCoalescer((chart: Chart) => chart.look())
  let isClosed = false
  const charts = createRefCounted((key: string): Chart => {
    const [pairIndex, interval] = JSON.parse(key) as [number, FacadeInterval]
    const chart: Chart = openChart({ reads, pairIndex, interval, counts, askToLoad: () => refresher.ask() })
    const isOver = (): boolean => isClosed || charts.get(key) !== chart
    const refresher = createSingleFlight({ work: () => chart.load(), isOver, onError })
    return chart
  })

  const stopChanges = candles.onChange((pairIndexes) => {
    const changed = new Set(pairIndexes)
    looks.add([...charts.items()].filter(({ pairIndex }) => changed.has(pairIndex)))
  })
  const stopRepaired = candles.onRepaired(({ pairIndex, interval }) => {
    for (const chart of charts.items()) {
      if (chart.pairIndex === pairIndex && chart.source === interval) chart.load().catch(onError)
    }
  })
  function subscribe(connection: Connection, { pairIndex }: Coin, interval: FacadeInterval): Subscription {
    const key = JSON.stringify([pairIndex, interval])
    const isNew = charts.get(key) === undefined
    const chart = charts.hold(key)
    if (isNew) chart.look()
    return chart.topic.subscribe(connection, () => charts.release(key))
  }

  return {
    parse(body) {
      const { interval } = body
      if (!isFacadeInterval(interval)) throw new MalformedInfoError()
      const coin = requiredCoin(body, reads)
      return { key: `${coin.name} ${interval}`, open: (connection) => subscribe(connection, coin, interval) }
    },
    close() {
      isClosed = true
      stopChanges()
      stopRepaired()
      looks.close()
    },
  }
}

/** The current candle of one coin at one interval, kept while somebody is subscribed. */
interface Chart {
  readonly topic: Topic
  readonly pairIndex: number
  /** The native interval that its candles are joined from. */
  readonly source: CandleInterval
  /** Publishes the candle if it has changed. */
  look(): void
  /** Reads the candle again, because the next one has begun or the known one may be wrong. */
  load(): Promise<void>
}

interface ChartOptions {
  readonly reads: FacadeReads
  readonly pairIndex: number
  readonly interval: FacadeInterval
  readonly counts: ChannelCounts
  /** Asks for a call of `load`. */
  readonly askToLoad: () => void
}

/**
 * Opens a chart. Each message is one candle; the final state of a candle is sent before the first state of the next.
 */
function openChart({ reads, pairIndex, interval, counts, askToLoad }: ChartOptions): Chart {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  /** The native candles that the current one is joined from. */
  let parts: readonly Candle[] = []
  /** The last messages sent, by the beginning of their candle. */
  let told: ReadonlyMap<number, string> = new Map()
  let latest: string | undefined
  const topic = createTopic({
    counts,
    snapshot() {
      if (latest === undefined) throw notReady('starting')
      return latest
    },
  })
  const current = (): Candle | undefined => reads.candles.current(pairIndex, width.source)

  function look(): void {
    const now = current()
    if (now === undefined) return
    if (parts.at(-1)?.time !== now.time) return askToLoad()
    tell([...parts.slice(0, -1), now])
  }

  async function load(): Promise<void> {
    const nowMs = reads.now()
    const startMs = width.beginOf(parts.at(-1)?.time ?? nowMs)
    const read = await readSourceCandles(reads, pairIndex, { interval, startMs, endMs: nowMs })
    const now = current()
    tell(now === undefined ? read : [...read.filter(({ time }) => time < now.time), now])
  }

  function tell(source: readonly Candle[]): void {
    const texts = new Map(aggregate(source, interval, 0).map((candle) => [candle.time, textOf(candle)]))
    const last = source.at(-1)
    if (last === undefined) return
    const before = told
    told = texts
    latest = [...texts.values()].at(-1)
    parts = source.filter(({ time }) => width.beginOf(time) === width.beginOf(last.time))
    for (const [time, text] of texts) if (before.get(time) !== text) topic.publish(text)
  }

  function textOf(candle: Candle): string {
    const coin = coinsOf(reads.markets()).universe[pairIndex]!
    return channelText('candle', JSON.stringify(facadeCandle(coin, interval, candle)))
  }

  return { topic, pairIndex, source: width.source, look, load }
}
