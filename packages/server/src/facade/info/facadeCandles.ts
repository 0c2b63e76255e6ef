import { CANDLE_INTERVALS, Price, type Candle, type CandleInterval, type Decimal } from '@bezel/protocol'
import { MAX_INFO_ROWS } from '../../access/weights.ts'
import { MAX_CANDLES } from '../../market/candles/limits.ts'
import type { FacadeReads } from '../facadeReads.ts'

/** A candle width of the facade, and the native width that its candles are joined from. */
export interface FacadeWidth {
  readonly source: CandleInterval
  /** Returns the beginning of the candle that contains `timeMs`. */
  readonly beginOf: (timeMs: number) => number
  /** Returns the end of the candle that begins at `beginMs`, which is the beginning of the next. */
  readonly endOf: (beginMs: number) => number
  /** Length of the longest candle of this width, in candles of the source. */
  readonly sourceCount: number
}

const DAY_MS = CANDLE_INTERVALS['1d']

/** Offset of the first Monday after the epoch, which was a Thursday: weeks begin on Mondays. */
const MONDAY_MS = 4 * DAY_MS

function fixed(source: CandleInterval, sourceCount: number, offsetMs = 0): FacadeWidth {
  const widthMs = CANDLE_INTERVALS[source] * sourceCount
  return {
    source,
    sourceCount,
    beginOf: (timeMs) => Math.floor((timeMs - offsetMs) / widthMs) * widthMs + offsetMs,
    endOf: (beginMs) => beginMs + widthMs,
  }
}

/** A calendar month in UTC. */
const MONTH: FacadeWidth = {
  source: '1d',
  sourceCount: 31,
  beginOf: (timeMs) => monthAt(timeMs, 0),
  endOf: (beginMs) => monthAt(beginMs, 1),
}

function monthAt(timeMs: number, later: number): number {
  const date = new Date(timeMs)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later)
}

/** Every candle width that clients offer. */
export const FACADE_INTERVALS = {
  '1m': fixed('1m', 1),
  '3m': fixed('1m', 3),
  '5m': fixed('5m', 1),
  '15m': fixed('15m', 1),
  '30m': fixed('30m', 1),
  '1h': fixed('1h', 1),
  '2h': fixed('1h', 2),
  '4h': fixed('4h', 1),
  '8h': fixed('4h', 2),
  '12h': fixed('4h', 3),
  '1d': fixed('1d', 1),
  '3d': fixed('1d', 3),
  '1w': fixed('1d', 7, MONDAY_MS),
  '1M': MONTH,
} as const satisfies Readonly<Record<string, FacadeWidth>>

export type FacadeInterval = keyof typeof FACADE_INTERVALS

export function isFacadeInterval(value: unknown): value is FacadeInterval {
  return typeof value === 'string' && Object.hasOwn(FACADE_INTERVALS, value)
}

/** Joins candles of the source, oldest first, to wider ones. Candles that begin before `startMs` are left out. */
export function aggregate(source: readonly Candle[], interval: FacadeInterval, startMs: number): readonly Candle[] {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  if (width.sourceCount === 1) return source
  const joined: Candle[] = []
  for (const candle of source) {
    const time = width.beginOf(candle.time)
    const last = joined.at(-1)
    if (last?.time === time) joined[joined.length - 1] = join(last, candle)
    else if (time >= startMs) joined.push({ ...candle, time })
  }
  return joined
}

function join(earlier: Candle, later: Candle): Candle {
  return {
    time: earlier.time,
    open: earlier.open,
    high: isAbove(later.high, earlier.high) ? later.high : earlier.high,
    low: isAbove(earlier.low, later.low) ? later.low : earlier.low,
    close: later.close,
  }
}

function isAbove(a: string, b: string): boolean {
  return a !== b && scaled(a) > scaled(b)
}

function scaled(price: string): Price {
  return Price.parseTruncated(price as Decimal)
}

/** A request for candles that begin in `[startMs, endMs]`. */
interface AskedCandles {
  readonly interval: FacadeInterval
  readonly startMs: number
  readonly endMs: number
}

/** Largest number of daily candles read for one request: more than 13 years. */
const MAX_DAYS = MAX_CANDLES

/**
 * Reads the native candles that a request is answered from, oldest first. Throws `NOT_READY` and
 * `UPSTREAM_UNAVAILABLE`.
 */
export async function readSourceCandles(
  { candles, now }: Pick<FacadeReads, 'candles' | 'now'>,
  pairIndex: number,
  { interval, startMs, endMs }: AskedCandles,
): Promise<readonly Candle[]> {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  const sourceMs = CANDLE_INTERVALS[width.source]
  const toMs = Math.min(width.endOf(width.beginOf(endMs)) - 1, now())
  const found: Candle[] = []
  // One read returns at most `MAX_CANDLES`.
  for (let fromMs = firstMs(width, sourceMs, startMs, toMs); fromMs <= toMs; fromMs += MAX_CANDLES * sourceMs) {
    const partEndMs = Math.min(toMs, fromMs + MAX_CANDLES * sourceMs - 1)
    const bytes = await candles.list(pairIndex, { interval: width.source, fromMs, toMs: partEndMs })
    for (const candle of (JSON.parse(bytes.toString('latin1')) as { data: Candle[] }).data) found.push(candle)
  }
  return found
}

/**
 * Returns the time to read from, never earlier than one answer can hold: clients that want everything ask from the year
 * 1970.
 */
function firstMs(width: FacadeWidth, sourceMs: number, startMs: number, toMs: number): number {
  const count = Math.min(width.source === '1d' ? MAX_DAYS : Number.POSITIVE_INFINITY, MAX_INFO_ROWS * width.sourceCount)
  const earliestMs = (Math.floor(toMs / sourceMs) - count + 1) * sourceMs
  const askedMs = Math.max(startMs, earliestMs, 0)
  const beginMs = width.beginOf(askedMs)
  // The candle that contains `askedMs` is wanted only when it begins exactly there.
  return Math.max(0, beginMs === askedMs ? askedMs : width.endOf(beginMs))
}
