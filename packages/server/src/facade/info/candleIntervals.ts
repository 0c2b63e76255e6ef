import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'

/** How a width of the facade is made of one that there are candles of. */
export interface FacadeWidth {
  readonly source: CandleInterval
  /** When the candle begins that a time lies in. */
  readonly beginOf: (timeMs: number) => number
  /** When the candle after it begins. */
  readonly endOf: (beginMs: number) => number
  /** Of the longest, in candles of the source. */
  readonly sourceCount: number
}

const DAY_MS = CANDLE_INTERVALS['1d']
/** The epoch was a Thursday, and weeks begin on Mondays. */
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

/** In UTC. */
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

/** Every width that clients offer. */
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
