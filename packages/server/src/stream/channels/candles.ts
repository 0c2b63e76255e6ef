import { type CandleInterval, CANDLE_INTERVALS, type Candle } from '@bezel/protocol'
import type { SubscribeCandles } from '../channel.ts'
import { createCoalescer } from '../../ground/coalesce.ts'
import type { PublicSources, CandleSource } from '../topics/publicSources.ts'
import { createRefCounted } from '../../ground/refCounted.ts'
import type { ChannelCounts } from '../streamCounts.ts'
import { subscribeLoaded, type LoadedTopic, createTopic } from '../topics/topic.ts'
import type { PublicChannel } from './prices.ts'

/** The candles of one market at one interval, while they have subscribers. */
interface Chart extends LoadedTopic {
  readonly pairIndex: number
  readonly interval: CandleInterval
  /** The number of changes of the current candle. */
  changes: number
  /** Publishes the current candle when it has changed. */
  look(): void
  /** Reads all candles again, because ended ones may have changed too, and publishes those that have. */
  correct(): void
}

/**
 * Sends the last candles of a market, oldest first, then the current one at every change, and ended ones that were
 * corrected.
 */
export function createCandlesChannel(
  { markets, candles }: Pick<PublicSources, 'markets' | 'candles'>,
  counts: ChannelCounts,
): PublicChannel<SubscribeCandles> {
  const charts = createRefCounted((key: string) => {
    const [market, interval] = key.split(' ') as [string, CandleInterval]
    return openChart({ market, interval, candles, counts, pairIndex: markets.listed(market).pairIndex })
  })
  const looks = createCoalescer((chart: Chart) => chart.look())

  const stopChanges = candles.onChange((pairIndexes) => {
    const changed = new Set(pairIndexes)
    const due = [...charts.items()].filter(({ pairIndex }) => changed.has(pairIndex))
    for (const chart of due) chart.changes += 1
    looks.add(due)
  })
  const stopRepaired = candles.onRepaired(({ pairIndex, interval }) => {
    for (const chart of charts.items())
      if (chart.pairIndex === pairIndex && chart.interval === interval) chart.correct()
  })
  return {
    subscribe(connection, { market, interval }) {
      return subscribeLoaded(charts, `${market} ${interval}`, connection)
    },
    close() {
      stopChanges()
      stopRepaired()
      looks.close()
    },
  }
}

interface ChartOptions {
  readonly market: string
  readonly pairIndex: number
  readonly interval: CandleInterval
  readonly candles: CandleSource
  readonly counts: ChannelCounts
}

const SNAPSHOT_CANDLES = 100

function openChart({ market, pairIndex, interval, candles, counts }: ChartOptions): Chart {
  let known: Candle[] = []
  let isLoaded = false
  let looked = 0
  /** True when the known candles may be wrong. */
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
    // The end of the last candle was not seen, or the candles could not be read when they had to be corrected.
    if ((isMissed || isInDoubt) && last !== undefined && current.time > last.time) correct()
    const changed = [...carried(last, current, CANDLE_INTERVALS[interval]), current]
    // A clock that was wrong has been set back: later candles never existed.
    const isBack = last !== undefined && last.time > current.time
    while (known.length > 0 && known.at(-1)!.time >= current.time) known.pop()
    known.push(...changed)
    known.splice(0, known.length - SNAPSHOT_CANDLES)
    topic.publish(isBack ? messageOf(known, true) : messageOf(changed, false))
  }

  /**
   * Starts a correction. When the candles can't be read now, they are read when the next candle begins or with the next
   * correction.
   */
  function correct(): void {
    isInDoubt = true
    if (!isReading) readUntilCertain().catch(() => (isInDoubt = true))
  }

  /** Reads one page after the other, so that an older page never comes last. */
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

/** Returns candles at the last close for the intervals in which nothing ticked. */
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
