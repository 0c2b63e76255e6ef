import {
  Annotated,
  CANDLE_INTERVALS,
  CandleIntervalSchema,
  CandleSchema,
  Closed,
  isCandleInterval,
  TimestampSchema,
  type CandleInterval,
} from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { pagesBegun } from '../../../access/weights.ts'
import type { CandleWindow, CandleReads } from '../../../market/candles/candleReads.ts'
import { DEFAULT_CANDLES, MAX_CANDLES } from '../../../market/candles/limits.ts'
import { queryRefusal, unknownParameters } from '../../parameters.ts'
import { defineRoute, JSON_TYPE, UNCHANGED } from '../../route.ts'
import { sendShared } from '../../sharedAnswer.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const CandleList = Closed(
  { data: Type.Array(CandleSchema) },
  { data: 'Candles, oldest first.' },
  { title: 'CandleList', description: 'Candles of a market.' },
)

const DEFAULT_INTERVAL: CandleInterval = '1h'

const QUERY = {
  interval: {
    schema: Annotated(CandleIntervalSchema, { default: DEFAULT_INTERVAL }),
    description: 'Width of a candle.',
  },
  from: {
    schema: TimestampSchema,
    description: `Time of the earliest candle, in epoch milliseconds, at most ${MAX_CANDLES} candles before \`to\`. Default: ${DEFAULT_CANDLES} intervals before \`to\`.`,
  },
  to: { schema: TimestampSchema, description: 'Time of the latest candle, in epoch milliseconds. Default: now.' },
}

/** The latest time that a JavaScript `Date` can hold, in milliseconds since the epoch. */
const MAX_TIME_MS = 8_640_000_000_000_000
const TIME_PATTERN = /^(?:0|[1-9]\d{0,15})$/

/** The context of the candle route. */
export interface CandlesContext extends MarketsContext {
  readonly candles: Pick<CandleReads, 'list'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export const getCandlesRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets/:symbol/candles',
  operationId: 'getCandles',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists the candles of the mark price of a market, oldest first',
  description:
    'A range of more than 5,000 candles is refused: ask for it in parts. It also answers while the price feed is silent; UPSTREAM_UNAVAILABLE means that the history behind the service did not answer: ask again. A range of candles that have ended has an `ETag`.',
  errors: ['MARKET_NOT_FOUND', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  query: QUERY,
  weight: { of: candlesWeight, words: `1 for every ${DEFAULT_CANDLES} candles, or part of them` },
  responses: { 200: CandleList },
  bodiless: UNCHANGED,
  async handler(context: CandlesContext, request, reply) {
    const { params, query } = request
    const markets = marketsOf(context, params.chain)
    const nowMs = context.now()
    const range = candleQuery(query, nowMs)
    const { pairIndex } = markets.listed(params.symbol)
    const body = await context.candles.list(pairIndex, range)
    return sendShared(request, reply, { type: JSON_TYPE, body, isTagged: haveEnded(range, nowMs) })
  },
})

/**
 * Reads the range of candles that a query asks for, cut off at now. Throws `VALIDATION_ERROR`, also for too many
 * candles.
 */
export function candleQuery(query: Readonly<Record<string, unknown>>, nowMs: number): CandleWindow {
  const issues = unknownParameters(query, QUERY)
  const interval = query.interval === undefined ? DEFAULT_INTERVAL : query.interval
  if (!isCandleInterval(interval)) {
    issues.push({ path: 'query.interval', message: `must be one of ${Object.keys(CANDLE_INTERVALS).join(', ')}` })
  }
  for (const name of ['from', 'to']) {
    const value = query[name]
    if (value === undefined || readTime(value) !== undefined) continue
    issues.push({ path: `query.${name}`, message: 'must be a whole number of milliseconds since the epoch' })
  }
  if (issues.length > 0 || !isCandleInterval(interval)) throw queryRefusal(issues)
  return rangeOf(interval, readTime(query.from), readTime(query.to), nowMs)
}

function rangeOf(
  interval: CandleInterval,
  from: number | undefined,
  to: number | undefined,
  nowMs: number,
): CandleWindow {
  const widthMs = CANDLE_INTERVALS[interval]
  const askedToMs = to ?? nowMs
  const fromMs = from ?? Math.max(0, askedToMs - DEFAULT_CANDLES * widthMs)
  if (fromMs > askedToMs) throw queryRefusal([{ path: 'query.from', message: 'must not be later than "to"' }])
  const range = { interval, fromMs, toMs: Math.min(askedToMs, nowMs) }
  if (countIn(range) <= MAX_CANDLES) return range
  throw queryRefusal([{ path: 'query.from', message: `must not be more than ${MAX_CANDLES} candles before "to"` }])
}

/** True when the running candle is not in the range. Its candles change only when one is repaired. */
function haveEnded({ interval, toMs }: CandleWindow, nowMs: number): boolean {
  const widthMs = CANDLE_INTERVALS[interval]
  return Math.floor(toMs / widthMs) < Math.floor(nowMs / widthMs)
}

function countIn({ interval, fromMs, toMs }: CandleWindow): number {
  const widthMs = CANDLE_INTERVALS[interval]
  return Math.floor(toMs / widthMs) - Math.ceil(fromMs / widthMs) + 1
}

/** Returns the weight of a query. One that is not valid is refused and weighs 1; the default range weighs 1 too. */
function candlesWeight(query: Readonly<Record<string, unknown>>, nowMs: number): number {
  const { interval = DEFAULT_INTERVAL } = query
  const toMs = Math.min(readTime(query.to) ?? nowMs, nowMs)
  const fromMs = readTime(query.from)
  if (!isCandleInterval(interval) || fromMs === undefined) return 1
  const count = countIn({ interval, fromMs, toMs })
  return count > MAX_CANDLES ? 1 : pagesBegun(count, DEFAULT_CANDLES)
}

/** Returns `undefined` for anything but a time. A parameter that is given twice arrives as an array. */
function readTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !TIME_PATTERN.test(value)) return undefined
  return Number(value) <= MAX_TIME_MS ? Number(value) : undefined
}
