import { ApiError, CANDLE_INTERVALS, isCandleInterval, type CandleInterval } from '@bezel/protocol'
import type { CandleRange } from '../../../market/candles/candleReads.ts'
import { DEFAULT_CANDLES, MAX_CANDLES } from '../../../market/candles/limits.ts'
import type { ValidationIssue } from '../../../access/validationIssues.ts'

const DEFAULT_INTERVAL: CandleInterval = '1h'
const PARAMETERS: readonly string[] = ['interval', 'from', 'to']
/** The last millisecond that a date can have. */
const MAX_TIME_MS = 8_640_000_000_000_000
const TIME_PATTERN = /^(?:0|[1-9]\d{0,15})$/

/** The candles that a query asks for: none of the future, and not too many. Throws `VALIDATION_ERROR`. */
export function candleQuery(query: Readonly<Record<string, unknown>>, nowMs: number): CandleRange {
  const issues: ValidationIssue[] = Object.keys(query)
    .filter((name) => !PARAMETERS.includes(name))
    .map((name) => ({ path: `query.${name}`, message: 'is not a parameter of this operation' }))
  const interval = query.interval === undefined ? DEFAULT_INTERVAL : query.interval
  if (!isCandleInterval(interval)) {
    issues.push({ path: 'query.interval', message: `must be one of ${Object.keys(CANDLE_INTERVALS).join(', ')}` })
  }
  for (const name of ['from', 'to']) {
    const value = query[name]
    if (value === undefined || readTime(value) !== undefined) continue
    issues.push({ path: `query.${name}`, message: 'must be a whole number of milliseconds since the epoch' })
  }
  if (issues.length > 0 || !isCandleInterval(interval)) throw refusal(issues)
  return rangeOf(interval, readTime(query.from), readTime(query.to), nowMs)
}

function rangeOf(
  interval: CandleInterval,
  from: number | undefined,
  to: number | undefined,
  nowMs: number,
): CandleRange {
  const widthMs = CANDLE_INTERVALS[interval]
  const askedToMs = to ?? nowMs
  const fromMs = from ?? Math.max(0, askedToMs - DEFAULT_CANDLES * widthMs)
  if (fromMs > askedToMs) throw refusal([{ path: 'query.from', message: 'must not be later than "to"' }])
  const toMs = Math.min(askedToMs, nowMs)
  const count = Math.floor(toMs / widthMs) - Math.ceil(fromMs / widthMs) + 1
  if (count <= MAX_CANDLES) return { interval, fromMs, toMs }
  throw refusal([{ path: 'query.from', message: `must not be more than ${MAX_CANDLES} candles before "to"` }])
}

/** A parameter that is given twice comes as an array. */
function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !TIME_PATTERN.test(value)) return undefined
  return Number(value) <= MAX_TIME_MS ? Number(value) : undefined
}

function refusal(issues: readonly ValidationIssue[]): ApiError {
  return new ApiError('VALIDATION_ERROR', 'The query parameters are not valid.', { issues })
}
