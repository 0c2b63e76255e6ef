import { formatDate, formatPercent, formatPrice } from '../../ground/format.ts'
import type { Candle, CandleInterval } from '@bezel/protocol/wire'

/** A candle as the chart draws it: numbers, and the time in seconds. */
export interface ChartBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
}

/** How a drawn series becomes another: bars at its end change or are added, or all is drawn anew. */
export type SeriesChange =
  | { readonly kind: 'same' }
  | { readonly kind: 'update'; readonly bars: readonly ChartBar[] }
  | { readonly kind: 'replace'; readonly bars: readonly ChartBar[] }

/** Widths of candles in the order of the switch, with their spoken names. */
export const INTERVAL_NAMES: Readonly<Record<CandleInterval, string>> = {
  '1m': '1 minute',
  '5m': '5 minutes',
  '15m': '15 minutes',
  '30m': '30 minutes',
  '1h': '1 hour',
  '4h': '4 hours',
  '1d': '1 day',
}

export const INTERVALS = Object.keys(INTERVAL_NAMES) as readonly CandleInterval[]

const DEFAULT_INTERVAL: CandleInterval = '1h'

/** The most bars at the end that are handed over one by one; more are drawn anew, which is faster. */
const MAX_UPDATED_BARS = 20

/** Returns the width that a deep link names; 1 h for anything else. */
export function intervalOf(text: string | undefined): CandleInterval {
  return INTERVALS.find((interval) => interval === text) ?? DEFAULT_INTERVAL
}

/** Returns a candle as a bar. */
export function barOf({ time, open, high, low, close }: Candle): ChartBar {
  return { time: time / 1_000, open: Number(open), high: Number(high), low: Number(low), close: Number(close) }
}

/** Compares what is drawn with what is to be drawn. Candles that did not change are the same objects or equal. */
export function seriesChange(drawn: readonly Candle[], next: readonly Candle[]): SeriesChange {
  const [firstDrawn, firstNext] = [drawn[0], next[0]]
  if (firstDrawn === undefined || firstNext === undefined || firstDrawn.time !== firstNext.time) {
    return { kind: 'replace', bars: next.map(barOf) }
  }
  const from = firstDifference(drawn, next)
  if (from === next.length && next.length === drawn.length) return { kind: 'same' }
  const isOnlyTail = from >= drawn.length - 1 && next.length >= drawn.length && next.length - from <= MAX_UPDATED_BARS
  if (isOnlyTail) return { kind: 'update', bars: next.slice(from).map(barOf) }
  return { kind: 'replace', bars: next.map(barOf) }
}

/** Describes the candles that are seen, for those who can't see them. */
export function summaryOf(symbol: string, interval: CandleInterval, candles: readonly Candle[]): string {
  const [first, last] = [candles[0], candles.at(-1)]
  if (first === undefined || last === undefined) return `There are no candles of ${symbol} yet.`
  const high = candles.reduce((best, { high: price }) => (Number(price) > Number(best) ? price : best), first.high)
  const low = candles.reduce((best, { low: price }) => (Number(price) < Number(best) ? price : best), first.low)
  const change = ((Number(last.close) - Number(first.open)) / Number(first.open)).toFixed(6)
  return (
    `${symbol}, candles of ${INTERVAL_NAMES[interval]} since ${formatDate(first.time)}: last price ${formatPrice(last.close)}, ` +
    `change ${formatPercent(change, { sign: true })}, highest ${formatPrice(high)}, lowest ${formatPrice(low)}.`
  )
}

/** Returns the first place where two lists of candles differ. Candles that are the same object are equal at once. */
function firstDifference(drawn: readonly Candle[], next: readonly Candle[]): number {
  const length = Math.min(drawn.length, next.length)
  let index = 0
  while (index < length && isSame(drawn[index], next[index])) index += 1
  return index
}

function isSame(a: Candle | undefined, b: Candle | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || a.time !== b.time) return false
  return a.close === b.close && a.high === b.high && a.low === b.low && a.open === b.open
}
