import { daySpan } from './daySpan.ts'
import { DAY_LEVEL, LEVELS, MINUTE_LEVEL, TICKS_PER_MINUTE } from './levels.ts'
import { minuteTick } from './minuteTicks.ts'
import { mix } from './mix.ts'
import { splitSpan, type Span } from './span.ts'

/** The highest and the lowest value of a range of ticks. */
export interface Extremes {
  readonly high: number
  readonly low: number
}

/**
 * The random walk of one pair, in parts per billion of its start price. A pure function of (seed, pair, tick): a tick is found by cutting
 * the span of its day down to its minute, and a candle of any width is a few spans, without a look at its ticks.
 */
export interface Walk {
  /** Ticks are counted from the epoch, one every `TICK_MS`. */
  at(tick: number): number
  /** Over the ticks `first` .. `last`, both included. */
  extremes(first: number, last: number): Extremes
}

interface WalkOptions {
  /** A whole number from 0 to 2^53 - 1. */
  readonly seed: number
  readonly pairIndex: number
  readonly dailyMovePpb: number
}

interface Seen {
  /** Number of the span whose parts these are; `NaN` before the first look. */
  above: number
  parts: readonly Span[]
}

/** The walk remembers only what it looked at last, one cut per level, so that the next tick costs a look-up. */
export function createWalk({ seed, pairIndex, dailyMovePpb }: WalkOptions): Walk {
  const pairSeed = mix(seed % 2 ** 32, Math.floor(seed / 2 ** 32), pairIndex, 0)
  const movesPpb = LEVELS.map(({ minutes }) => moveWithin(dailyMovePpb, minutes * TICKS_PER_MINUTE))
  const jitterPpb = moveWithin(dailyMovePpb, 1)
  const seen = LEVELS.map((): Seen => ({ above: NaN, parts: [] }))

  function spanAt(level: number, index: number): Span {
    const { parts } = LEVELS[level]!
    const above = Math.floor(index / parts)
    const last = seen[level]!
    if (last.above !== above) {
      last.parts = level === DAY_LEVEL ? [daySpan(pairSeed, dailyMovePpb, index)] : cutAbove(level, above)
      last.above = above
    }
    return last.parts[index - above * parts]!
  }

  function cutAbove(level: number, above: number): readonly Span[] {
    const { parts } = LEVELS[level]!
    const parent = spanAt(level - 1, above)
    return splitSpan({ seed: pairSeed, parent, level, first: above * parts, parts, movePpb: movesPpb[level]! })
  }

  function at(tick: number): number {
    const minute = Math.floor(tick / TICKS_PER_MINUTE)
    const span = spanAt(MINUTE_LEVEL, minute)
    return minuteTick(pairSeed, jitterPpb, minute, span, tick - minute * TICKS_PER_MINUTE)
  }

  function extremes(first: number, last: number): Extremes {
    let high = -Infinity
    let low = Infinity
    for (let tick = first; tick <= last;) {
      const level = widestLevel(tick, last)
      const ticks = level === undefined ? 1 : LEVELS[level]!.ticks
      const reached = level === undefined ? tickExtremes(at(tick)) : spanAt(level, tick / ticks)
      high = Math.max(high, reached.high)
      low = Math.min(low, reached.low)
      tick += ticks
    }
    return { high, low }
  }

  return { at, extremes }
}

function tickExtremes(value: number): Extremes {
  return { high: value, low: value }
}

/** The widest level with a span that begins at `tick` and ends by `last`. */
function widestLevel(tick: number, last: number): number | undefined {
  if (tick % TICKS_PER_MINUTE !== 0) return undefined
  const level = LEVELS.findIndex(({ ticks }) => tick % ticks === 0 && tick + ticks - 1 <= last)
  return level === -1 ? undefined : level
}

/** A random walk moves with the root of time. `Math.sqrt` is exact to the last bit on every machine. */
function moveWithin(dailyMovePpb: number, ticks: number): number {
  return Math.round(dailyMovePpb * Math.sqrt(ticks / LEVELS[DAY_LEVEL]!.ticks))
}
