import { isOpenAt, lastOpenMs, openSpans, type MarketSession, type OpenSpan } from '@bezel/protocol'
import { TICK_MS } from './levels.ts'
import { flatOhlc, joinOhlc, type Ohlc } from './ohlc.ts'
import { quotedPrice } from './price.ts'
import type { Walk } from './walk.ts'

/**
 * A stretch of a market's life between two controls. Its price is `price` at `sinceMs` and then moves as the walk does, relative to where
 * the walk stood: `price x walk(tick) / walkAtStart`. That never reverses the order of two walk values, so the walk's extremes are the price's.
 */
export interface Segment {
  readonly sinceMs: number
  readonly price: bigint
  readonly walkAtStart: number
  readonly frozen: boolean
  /** `null`: by the market's hours. */
  readonly forcedOpen: boolean | null
  /** Whether `price` was published at `sinceMs`, between two ticks. */
  readonly announced: boolean
}

/** What a segment needs to know of its market. */
export interface Ground {
  readonly walk: Walk
  readonly session: MarketSession
}

/** Whether the market trades at an instant of this segment. */
export function isSegmentOpen(segment: Segment, ground: Ground, ms: number): boolean {
  return segment.forcedOpen ?? isOpenAt(ground.session, ms)
}

/** The price in force at an instant of this segment: of its last open tick, or the one it began with. */
export function segmentPriceAt(segment: Segment, ground: Ground, ms: number): bigint {
  if (segment.frozen) return segment.price
  const openMs = lastOpenOf(segment, ground, ms)
  const tick = openMs === undefined ? -1 : Math.floor(openMs / TICK_MS)
  return tick * TICK_MS > segment.sinceMs ? quoteAt(segment, ground, tick) : segment.price
}

/** Of the ticks published in (`sinceMs`, `toMs`] that are not before `fromMs`; `undefined` when there was none. */
export function segmentTicksOhlc(segment: Segment, ground: Ground, fromMs: number, toMs: number): Ohlc | undefined {
  const first = Math.max(Math.ceil(fromMs / TICK_MS), Math.floor(segment.sinceMs / TICK_MS) + 1)
  const spans = openSpansOf(segment, ground, {
    fromMs: first * TICK_MS,
    toMs: Math.floor(toMs / TICK_MS) * TICK_MS + 1,
  })
  let ohlc: Ohlc | undefined
  for (const span of spans) ohlc = joinOhlc(ohlc, spanOhlc(segment, ground, span))
  return ohlc
}

/** Hours begin and end on whole minutes, so the first tick of an open stretch is at its beginning. */
function spanOhlc(segment: Segment, ground: Ground, span: OpenSpan): Ohlc {
  if (segment.frozen) return flatOhlc(segment.price)
  const first = Math.ceil(span.fromMs / TICK_MS)
  const last = Math.ceil(span.toMs / TICK_MS) - 1
  const { high, low } = ground.walk.extremes(first, last)
  return {
    open: quoteAt(segment, ground, first),
    high: quote(segment, high),
    low: quote(segment, low),
    close: quoteAt(segment, ground, last),
  }
}

function openSpansOf(segment: Segment, { session }: Ground, { fromMs, toMs }: OpenSpan): readonly OpenSpan[] {
  if (segment.forcedOpen === null) return openSpans(session, fromMs, toMs)
  return segment.forcedOpen && fromMs < toMs ? [{ fromMs, toMs }] : []
}

function lastOpenOf(segment: Segment, { session }: Ground, ms: number): number | undefined {
  if (segment.forcedOpen === null) return lastOpenMs(session, ms)
  return segment.forcedOpen ? ms : undefined
}

function quoteAt(segment: Segment, { walk }: Ground, tick: number): bigint {
  return quote(segment, walk.at(tick))
}

function quote({ price, walkAtStart }: Segment, walked: number): bigint {
  return quotedPrice((price * BigInt(walked)) / BigInt(walkAtStart))
}
