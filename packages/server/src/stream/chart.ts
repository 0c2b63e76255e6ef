import { CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import type { Lookable } from './looks.ts'
import type { CandleSource } from './publicSources.ts'
import type { ChannelCounts } from './streamCounts.ts'
import type { LoadedTopic } from './subscribeLoaded.ts'
import { createTopic } from './topic.ts'

/** The candles of one market at one interval, while somebody listens. */
export interface Chart extends Lookable, LoadedTopic {
  readonly pairIndex: number
  /** How often it changed. */
  changes: number
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
  const topic = createTopic({ counts, snapshot: () => messageOf(known, true) })
  const recent = (): Promise<readonly Candle[]> => candles.recent(pairIndex, interval, SNAPSHOT_CANDLES)

  function look(): void {
    const isMissed = chart.changes - looked > 1
    looked = chart.changes
    const current = candles.current(pairIndex, interval)
    const last = known.at(-1)
    if (!isLoaded || current === undefined || isSame(current, last)) return
    // How the last one ended was not seen.
    if (isMissed && last !== undefined && current.time > last.time) correctEnded().catch(() => undefined)
    const changed = [...carried(last, current, CANDLE_INTERVALS[interval]), current]
    if (last !== undefined && last.time >= current.time) known.pop()
    known.push(...changed)
    known.splice(0, known.length - SNAPSHOT_CANDLES)
    topic.publish(messageOf(changed, false))
  }

  async function correctEnded(): Promise<void> {
    const ended = new Map((await recent()).slice(0, -1).map((candle) => [candle.time, candle]))
    const corrected = known.flatMap((before) => {
      const now = ended.get(before.time)
      return now === undefined || isSame(now, before) ? [] : [now]
    })
    if (corrected.length === 0) return
    known = known.map((before) => ended.get(before.time) ?? before)
    topic.publish(messageOf(corrected, false))
  }

  async function load(): Promise<void> {
    known = [...(await recent())]
    isLoaded = true
    look()
  }

  function messageOf(data: readonly Candle[], isSnapshot: boolean): string {
    return `{"channel":"candles","market":"${market}","interval":"${interval}","snapshot":${isSnapshot},"data":${JSON.stringify(data)}}`
  }

  const chart: Chart = { topic, pairIndex, look, loaded: load(), changes: 0 }
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
