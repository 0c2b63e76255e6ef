import { CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import type { Lookable } from '../../ground/looks.ts'
import type { CandleSource } from './publicSources.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import type { LoadedTopic } from './subscribeLoaded.ts'
import { createTopic } from './topic.ts'

/** The candles of one market at one interval, while somebody listens. */
export interface Chart extends Lookable, LoadedTopic {
  readonly pairIndex: number
  readonly interval: CandleInterval
  /** How often it changed. */
  changes: number
  /** Reads all again, because others than the current one may have changed too, and tells those that have. */
  correct(): void
}

export interface ChartOptions {
  readonly market: string
  readonly pairIndex: number
  readonly interval: CandleInterval
  readonly candles: CandleSource
  readonly counts: ChannelCounts
}

const SNAPSHOT_CANDLES = 100

export function openChart({ market, pairIndex, interval, candles, counts }: ChartOptions): Chart {
  let known: Candle[] = []
  let isLoaded = false
  let looked = 0
  /** What is known may be wrong. */
  let isInDoubt = false
  let isReading = false
  const topic = createTopic({ counts, snapshot: () => messageOf(known, true) })
  const recent = (): Promise<readonly Candle[]> => candles.recent(pairIndex, interval, SNAPSHOT_CANDLES)

  function look(): void {
    const isMissed = chart.changes - looked > 1
    looked = chart.changes
    const current = candles.current(pairIndex, interval)
    const last = known.at(-1)
    if (!isLoaded || current === undefined || isSame(current, last)) return
    // How the last one ended was not seen; or it could not be read when it was to be corrected.
    if ((isMissed || isInDoubt) && last !== undefined && current.time > last.time) correct()
    const changed = [...carried(last, current, CANDLE_INTERVALS[interval]), current]
    // A clock that was wrong was put back: what is later never was.
    const isBack = last !== undefined && last.time > current.time
    while (known.length > 0 && known.at(-1)!.time >= current.time) known.pop()
    known.push(...changed)
    known.splice(0, known.length - SNAPSHOT_CANDLES)
    topic.publish(isBack ? messageOf(known, true) : messageOf(changed, false))
  }

  /** What can't be read now is read when the next candle begins, or when there is more to correct. */
  function correct(): void {
    isInDoubt = true
    if (!isReading) readUntilCertain().catch(() => (isInDoubt = true))
  }

  /** One reading after the other, so that no older one comes last. */
  async function readUntilCertain(): Promise<void> {
    isReading = true
    try {
      await chart.loaded
      while (isInDoubt) {
        isInDoubt = false
        replace(await recent())
      }
    } finally {
      isReading = false
    }
  }

  function replace(read: readonly Candle[]): void {
    const before = new Map(known.map((candle) => [candle.time, candle]))
    const changed = read.filter((candle) => !isSame(candle, before.get(candle.time)))
    if (changed.length === 0) return
    known = [...read]
    topic.publish(messageOf(changed, false))
  }

  async function load(): Promise<void> {
    known = [...(await recent())]
    isLoaded = true
    look()
  }

  function messageOf(data: readonly Candle[], isSnapshot: boolean): string {
    return `{"channel":"candles","market":"${market}","interval":"${interval}","snapshot":${isSnapshot},"data":${JSON.stringify(data)}}`
  }

  const chart: Chart = { topic, pairIndex, interval, look, correct, loaded: load(), changes: 0 }
  return chart
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
