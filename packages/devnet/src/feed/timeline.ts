import { GROUPS } from '../listing/groups.ts'
import type { ListedPair } from '../listing/pairs.ts'
import { UNIT_PPB } from './daySpan.ts'
import { TICK_MS } from './levels.ts'
import { flatOhlc, joinOhlc, type Ohlc } from './ohlc.ts'
import { parsePrice } from './price.ts'
import { isSegmentOpen, segmentPriceAt, segmentTicksOhlc, type Ground, type Segment } from './segment.ts'
import { DAILY_MOVE_PPB } from './volatility.ts'
import { createWalk } from './walk.ts'

/**
 * Controls remembered per market. Beyond that the oldest is forgotten, and the stretch it began shows the market as it was before all
 * of them.
 */
const MAX_SEGMENTS = 10_000

/** All there is to know of a market's price at any time: its walk, its hours and the controls that were used on it. */
export interface Timeline {
  readonly ground: Ground
  /** In the order of time; the first reaches back for ever. */
  readonly segments: Segment[]
}

/** A use of `setPrice`, `freeze` or `setMarketOpen`. */
export type Control = Partial<Pick<Segment, 'price' | 'frozen' | 'forcedOpen'>>

/** The life of a pair that nobody has touched. */
export function createTimeline(pair: ListedPair, seed: number): Timeline {
  const session = GROUPS[pair.groupIndex]?.session
  if (session === undefined) throw new Error(`Pair ${pair.index} is in group ${pair.groupIndex}, which is not listed.`)
  const walk = createWalk({ seed, pairIndex: pair.index, dailyMovePpb: DAILY_MOVE_PPB[pair.volatility] })
  const untouched: Segment = {
    sinceMs: -Infinity,
    price: parsePrice(pair.startPrice),
    walkAtStart: UNIT_PPB,
    frozen: false,
    forcedOpen: null,
    announced: false,
  }
  return { ground: { walk, session }, segments: [untouched] }
}

/** Begins a new segment where the market stands at `ms`, which may not be before the last one. */
export function applyControl(timeline: Timeline, ms: number, control: Control): void {
  const { ground, segments } = timeline
  const price = control.price ?? priceAt(timeline, ms)
  const walkAtStart = ground.walk.at(Math.floor(ms / TICK_MS))
  const next = { ...segments.at(-1)!, sinceMs: ms, price, walkAtStart, ...control }
  segments.push({ ...next, announced: control.price !== undefined || isSegmentOpen(next, ground, ms) })
  if (segments.length > MAX_SEGMENTS) segments.splice(1, 1)
}

/** Whether the market trades at an instant. */
export function isTimelineOpen({ ground, segments }: Timeline, ms: number): boolean {
  return isSegmentOpen(segments[segmentIndexAt(segments, ms)]!, ground, ms)
}

/** The price in force at an instant: a closed market keeps that of its last open tick. */
export function priceAt({ ground, segments }: Timeline, ms: number): bigint {
  return segmentPriceAt(segments[segmentIndexAt(segments, ms)]!, ground, ms)
}

/** Of everything published in [fromMs, toMs); `undefined` when that is nothing. */
export function ohlcBetween({ ground, segments }: Timeline, fromMs: number, toMs: number): Ohlc | undefined {
  let ohlc: Ohlc | undefined
  for (let at = Math.max(0, segmentIndexAt(segments, fromMs - 1)); at < segments.length; at += 1) {
    const segment = segments[at]!
    if (segment.sinceMs >= toMs) break
    if (segment.announced && segment.sinceMs >= fromMs) ohlc = joinOhlc(ohlc, flatOhlc(segment.price))
    // A tick at the very instant of a control was published before it, so it still belongs to the segment that ends there.
    const lastMs = Math.min(toMs - 1, segments[at + 1]?.sinceMs ?? Infinity)
    const ticks = segmentTicksOhlc(segment, ground, fromMs, lastMs)
    if (ticks !== undefined) ohlc = joinOhlc(ohlc, ticks)
  }
  return ohlc
}

/** Index of the last segment that has begun by `ms`. */
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
