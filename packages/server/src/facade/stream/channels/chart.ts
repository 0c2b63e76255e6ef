import type { Candle, CandleInterval } from '@bezel/protocol'
import { notReady } from '../../../ground/notReady.ts'
import type { Lookable } from '../../../ground/looks.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import { coinsOf } from '../../coins.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { aggregate } from '../../info/aggregateCandles.ts'
import { FACADE_INTERVALS, type FacadeInterval, type FacadeWidth } from '../../info/candleIntervals.ts'
import { facadeCandle } from '../../info/candleSnapshot.ts'
import { readSourceCandles } from '../../info/readSourceCandles.ts'
import { channelText } from '../facadeTexts.ts'

/** The current candle of one coin at one interval, while somebody listens. */
export interface Chart extends Lookable {
  readonly topic: Topic
  readonly pairIndex: number
  /** The interval that its candles are made of. */
  readonly source: CandleInterval
  /** Reads it again: another one has begun, or what is known may be wrong. */
  load(): Promise<void>
}

export interface ChartOptions {
  readonly reads: FacadeReads
  readonly pairIndex: number
  readonly interval: FacadeInterval
  readonly counts: ChannelCounts
  /** Asks for `load`. */
  readonly askToLoad: () => void
}

/** Each message is one candle. How one ended is told before the next one. */
export function openChart({ reads, pairIndex, interval, counts, askToLoad }: ChartOptions): Chart {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  /** What the current one is made of. */
  let parts: readonly Candle[] = []
  /** Messages by the beginning of their candle. */
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
