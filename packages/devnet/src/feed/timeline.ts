import { GROUPS } from '../listing/groups.ts'
import type { LocalPair, VolatilityClass } from '../listing/pairs.ts'
import { UNIT_PPB, createWalk, type Walk } from './walk.ts'
import { TICK_MS } from './spanTree.ts'
import { parseFeedPrice, quotedPrice } from './price.ts'
import { isOpenAt, lastOpenMs, openSpans, type MarketSession, type OpenSpan } from '@bezel/protocol'

/** First, highest, lowest and last price of a span of time, 1e10. */
export interface FeedOhlc {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Everything that determines a market's price at any time: its walk, its hours and the controls used on it. */
export interface Timeline {
  readonly ground: Ground
  /** Segments in the order of time; the first one has no beginning. */
  readonly segments: Segment[]
}

/** A use of `setPrice`, `freeze`, `sleep` or `setMarketOpen`. */
export type Control = Partial<Pick<Segment, 'price' | 'frozen' | 'asleep' | 'forcedOpen'>>

/**
 * A part of a market's life between two controls. Its price is `price` at `sinceMs` and then moves with the walk,
 * relative to where the walk stood: `price x walk(tick) / walkAtStart`. That never reverses the order of two values of
 * the walk, so the walk's extremes are the price's.
 */
interface Segment {
  readonly sinceMs: number
  readonly price: bigint
  readonly walkAtStart: number
  /** True while the price stands still and is published at every tick. */
  readonly frozen: boolean
  /** True while the price stands still and is not published, also when frozen; `null` follows the walk's own naps. */
  readonly asleep: boolean | null
  /** Forced state of the market; `null` follows its hours. */
  readonly forcedOpen: boolean | null
  /** True when `price` was published at `sinceMs`, between two ticks. */
  readonly announced: boolean
}

/** The facts about its market that a segment needs. */
interface Ground {
  readonly walk: Walk
  /** The same walk without naps, for a market that was woken. */
  readonly wakefulWalk: Walk
  readonly session: MarketSession
}

/**
 * Number of remembered controls per market. Beyond it the oldest is forgotten, and its segment shows the market as it
 * was before all controls.
 */
const MAX_SEGMENTS = 10_000

/** Typical movement of a price in a day, in parts per billion. Our own values, near those of a quiet month. */
export const DAILY_MOVE_PPB: Readonly<Record<VolatilityClass, number>> = {
  major: 25_000_000,
  altcoin: 40_000_000,
  meme: 60_000_000,
  forex: 4_500_000,
  stock: 15_000_000,
  index: 8_000_000,
  metal: 12_000_000,
  energy: 20_000_000,
}

/** Creates the timeline of a pair without any control. A sleepy pair stands still in every second five minutes. */
export function createTimeline(pair: LocalPair, seed: number, isSleepy: boolean): Timeline {
  const session = GROUPS[pair.groupIndex]?.session
  if (session === undefined) throw new Error(`Pair ${pair.index} is in group ${pair.groupIndex}, which is not listed.`)
  const walkOptions = { seed, pairIndex: pair.index, dailyMovePpb: DAILY_MOVE_PPB[pair.volatility] }
  const wakefulWalk = createWalk(walkOptions)
  const walk = isSleepy ? createWalk({ ...walkOptions, isSleepy }) : wakefulWalk
  const untouched: Segment = {
    sinceMs: -Infinity,
    price: parseFeedPrice(pair.startPrice),
    walkAtStart: UNIT_PPB,
    frozen: false,
    asleep: null,
    forcedOpen: null,
    announced: false,
  }
  return { ground: { walk, wakefulWalk, session }, segments: [untouched] }
}

/** Begins a new segment at `ms`, which must not be before the last one. */
export function applyControl(timeline: Timeline, ms: number, control: Control): void {
  const { ground, segments } = timeline
  const price = control.price ?? priceAt(timeline, ms)
  const next = { ...segments.at(-1)!, sinceMs: ms, price, ...control }
  const walkAtStart = walkOf(next, ground).at(Math.floor(ms / TICK_MS))
  const announced = control.price !== undefined || isSegmentOpen(next, ground, ms)
  segments.push({ ...next, walkAtStart, announced })
  if (segments.length > MAX_SEGMENTS) segments.splice(1, 1)
}

/** Returns true when the market trades at an instant. */
export function isTimelineOpen({ ground, segments }: Timeline, ms: number): boolean {
  return isSegmentOpen(segments[segmentIndexAt(segments, ms)]!, ground, ms)
}

/**
 * Returns true when the market's price is published at the tick of an instant: it changed, or it is frozen. A sleeping
 * market is silent.
 */
export function isToldAt(timeline: Timeline, ms: number): boolean {
  if (!isTimelineOpen(timeline, ms)) return false
  const { frozen, asleep } = timeline.segments[segmentIndexAt(timeline.segments, ms)]!
  if (asleep === true) return false
  return frozen || priceAt(timeline, ms) !== priceAt(timeline, ms - 1)
}

/** Returns the price in force at an instant. A closed market keeps that of its last open tick. */
export function priceAt({ ground, segments }: Timeline, ms: number): bigint {
  return segmentPriceAt(segments[segmentIndexAt(segments, ms)]!, ground, ms)
}

/** Returns the prices of everything published in [fromMs, toMs); `undefined` when nothing was. */
export function ohlcBetween({ ground, segments }: Timeline, fromMs: number, toMs: number): FeedOhlc | undefined {
  let ohlc: FeedOhlc | undefined
  for (let at = Math.max(0, segmentIndexAt(segments, fromMs - 1)); at < segments.length; at += 1) {
    const segment = segments[at]!
    if (segment.sinceMs >= toMs) break
    if (segment.announced && segment.sinceMs >= fromMs) ohlc = joinFeedOhlc(ohlc, flatFeedOhlc(segment.price))
    // A tick at the very instant of a control was published before it, so it belongs to the segment that ends there.
    const lastMs = Math.min(toMs - 1, segments[at + 1]?.sinceMs ?? Infinity)
    const ticks = segmentTicksOhlc(segment, ground, fromMs, lastMs)
    if (ticks !== undefined) ohlc = joinFeedOhlc(ohlc, ticks)
  }
  return ohlc
}

/** Returns the index of the last segment that has begun by `ms`. */
function segmentIndexAt(segments: readonly Segment[], ms: number): number {
  let low = 0
  let high = segments.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (segments[middle]!.sinceMs <= ms) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns true when the market trades at an instant of this segment. */
function isSegmentOpen(segment: Segment, ground: Ground, ms: number): boolean {
  return segment.forcedOpen ?? isOpenAt(ground.session, ms)
}

/** Returns the price in force at an instant of this segment: that of its last open tick, or the one it began with. */
function segmentPriceAt(segment: Segment, ground: Ground, ms: number): bigint {
  if (isStill(segment)) return segment.price
  const openMs = lastOpenOf(segment, ground, ms)
  const tick = openMs === undefined ? -1 : Math.floor(openMs / TICK_MS)
  return tick * TICK_MS > segment.sinceMs ? quoteAt(segment, ground, tick) : segment.price
}

/**
 * Returns the prices of the ticks published in (`sinceMs`, `toMs`] and not before `fromMs`; `undefined` when there was
 * none.
 */
function segmentTicksOhlc(segment: Segment, ground: Ground, fromMs: number, toMs: number): FeedOhlc | undefined {
  if (segment.asleep === true) return undefined
  const first = Math.max(Math.ceil(fromMs / TICK_MS), Math.floor(segment.sinceMs / TICK_MS) + 1)
  const spans = openSpansOf(segment, ground, {
    fromMs: first * TICK_MS,
    toMs: Math.floor(toMs / TICK_MS) * TICK_MS + 1,
  })
  let ohlc: FeedOhlc | undefined
  for (const span of spans) {
    const told = spanOhlc(segment, ground, span)
    if (told !== undefined) ohlc = joinFeedOhlc(ohlc, told)
  }
  return ohlc
}

/**
 * Returns the prices published in an open span: from the first one that differs from the price before the span, because
 * a price is published only when it changes. Hours begin and end on whole minutes, so the first tick is at the
 * beginning of the span.
 */
function spanOhlc(segment: Segment, ground: Ground, span: OpenSpan): FeedOhlc | undefined {
  if (segment.frozen) return flatFeedOhlc(segment.price)
  const last = Math.ceil(span.toMs / TICK_MS) - 1
  const before = segmentPriceAt(segment, ground, Math.ceil(span.fromMs / TICK_MS) * TICK_MS - 1)
  const walk = walkOf(segment, ground)
  const isSame = (walked: number): boolean => quote(segment, walked) === before
  const first = walk.findChange(Math.ceil(span.fromMs / TICK_MS), last, isSame)
  if (first === undefined) return undefined
  const { high, low } = walk.extremes(first, last)
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

/** Returns true while the price of a segment does not follow the walk. */
function isStill({ frozen, asleep }: Segment): boolean {
  return frozen || asleep === true
}

/** Returns the walk that the price of a segment follows. */
function walkOf({ asleep }: Pick<Segment, 'asleep'>, { walk, wakefulWalk }: Ground): Walk {
  return asleep === false ? wakefulWalk : walk
}

function quoteAt(segment: Segment, ground: Ground, tick: number): bigint {
  return quote(segment, walkOf(segment, ground).at(tick))
}

function quote({ price, walkAtStart }: Segment, walked: number): bigint {
  return quotedPrice((price * BigInt(walked)) / BigInt(walkAtStart))
}

/** Returns the prices of a span with one constant price. */
export function flatFeedOhlc(price: bigint): FeedOhlc {
  return { open: price, high: price, low: price, close: price }
}

/** Joins the prices of two spans, the first before the second. */
export function joinFeedOhlc(first: FeedOhlc | undefined, second: FeedOhlc): FeedOhlc {
  if (first === undefined) return second
  return {
    open: first.open,
    high: first.high > second.high ? first.high : second.high,
    low: first.low < second.low ? first.low : second.low,
    close: second.close,
  }
}

/** Maps each price with a function that keeps their order. */
export function mapFeedOhlc({ open, high, low, close }: FeedOhlc, map: (price: bigint) => bigint): FeedOhlc {
  return { open: map(open), high: map(high), low: map(low), close: map(close) }
}
