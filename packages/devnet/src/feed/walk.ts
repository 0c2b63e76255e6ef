import {
  below,
  DAY_LEVEL,
  MINUTE_LEVEL,
  mix,
  NAP_LEVEL,
  SPAN_LEVELS,
  splitSpan,
  TICKS_PER_MINUTE,
  type Span,
} from './spanTree.ts'

/** The start price in parts per billion. */
export const UNIT_PPB = 1_000_000_000

/** Highest and lowest value of a range of ticks. */
interface Extremes {
  readonly high: number
  readonly low: number
}

/**
 * The random walk of one pair, in parts per billion of its start price. It is a pure function of (seed, pair, tick): a
 * tick is found by cutting the span of its day down to its minute, and a candle of any width is a few spans, without a
 * look at its ticks.
 */
export interface Walk {
  /** Returns the walk at a tick. Ticks are counted from the epoch, one every `TICK_MS`. */
  at(tick: number): number
  /** Returns the extremes of the ticks `first` .. `last`, both included. */
  extremes(first: number, last: number): Extremes
  /**
   * Finds the first of the ticks `first` .. `last` whose value is not `isSame`; `undefined` when all are. `isSame` must
   * hold for every value between two for which it holds.
   */
  findChange(first: number, last: number, isSame: (value: number) => boolean): number | undefined
}

interface WalkOptions {
  /** Seed: a whole number from 0 to 2^53 - 1. */
  readonly seed: number
  readonly pairIndex: number
  readonly dailyMovePpb: number
  /** True for a pair whose price stands still in every second five minutes. Default false. */
  readonly isSleepy?: boolean
}

interface Seen {
  /** Number of the span whose parts these are; `NaN` before the first look. */
  above: number
  parts: readonly Span[]
}

/**
 * Waves over this many days, each as high as its share of the daily move times the square root of its length. Together
 * they stay within four daily moves of the start price, so a market never wanders off, however long the walk is.
 */
const WAVES = [
  { days: 2, heightPercent: 57 },
  { days: 8, heightPercent: 113 },
  { days: 32, heightPercent: 226 },
]

const DAY_SALT = { rise: 11, fall: 12, wave: 13 }

const MINUTE_SALT = { turn: 21, jitter: 22 }

/** Windows of ticks in which the two turns of a minute lie, so that no line between two points is too steep. */
const FIRST_TURN = { from: 20, count: 80 }

const SECOND_TURN = { from: 140, count: 80 }

/** Creates the walk of a pair. It remembers only the last cut of each level, so that the next tick costs a look-up. */
export function createWalk({ seed, pairIndex, dailyMovePpb, isSleepy = false }: WalkOptions): Walk {
  const pairSeed = mix(seed % 2 ** 32, Math.floor(seed / 2 ** 32), pairIndex, 0)
  const movesPpb = SPAN_LEVELS.map(({ minutes }) => moveWithin(dailyMovePpb, minutes * TICKS_PER_MINUTE))
  const jitterPpb = moveWithin(dailyMovePpb, 1)
  const seen = SPAN_LEVELS.map((): Seen => ({ above: NaN, parts: [] }))

  function spanAt(level: number, index: number): Span {
    const { parts } = SPAN_LEVELS[level]!
    const above = Math.floor(index / parts)
    const last = seen[level]!
    if (last.above !== above) {
      last.parts = level === DAY_LEVEL ? [daySpan(pairSeed, dailyMovePpb, index)] : cutAbove(level, above)
      last.above = above
    }
    return last.parts[index - above * parts]!
  }

  function cutAbove(level: number, above: number): readonly Span[] {
    const { parts } = SPAN_LEVELS[level]!
    const parent = spanAt(level - 1, above)
    const isNap = (part: number): boolean => isSleepy && level === NAP_LEVEL && (part + pairIndex) % 2 === 1
    return splitSpan({ seed: pairSeed, parent, level, first: above * parts, parts, movePpb: movesPpb[level]!, isNap })
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
      const ticks = level === undefined ? 1 : SPAN_LEVELS[level]!.ticks
      const reached = level === undefined ? tickExtremes(at(tick)) : spanAt(level, tick / ticks)
      high = Math.max(high, reached.high)
      low = Math.min(low, reached.low)
      tick += ticks
    }
    return { high, low }
  }

  function findChange(first: number, last: number, isSame: (value: number) => boolean): number | undefined {
    for (let tick = first; tick <= last;) {
      const still = SPAN_LEVELS.find(({ ticks }, level) => {
        if (tick % ticks !== 0 || tick + ticks - 1 > last) return false
        const { high, low } = spanAt(level, tick / ticks)
        return isSame(high) && isSame(low)
      })
      if (still === undefined && !isSame(at(tick))) return tick
      tick += still?.ticks ?? 1
    }
    return undefined
  }

  return { at, extremes, findChange }
}

function tickExtremes(value: number): Extremes {
  return { high: value, low: value }
}

/** Returns the widest level with a span that begins at `tick` and ends by `last`. */
function widestLevel(tick: number, last: number): number | undefined {
  if (tick % TICKS_PER_MINUTE !== 0) return undefined
  const level = SPAN_LEVELS.findIndex(({ ticks }) => tick % ticks === 0 && tick + ticks - 1 <= last)
  return level === -1 ? undefined : level
}

/**
 * Returns the movement within a number of ticks. A random walk moves with the square root of time, and `Math.sqrt` is
 * exact to the last bit on every machine.
 */
function moveWithin(dailyMovePpb: number, ticks: number): number {
  return Math.round(dailyMovePpb * Math.sqrt(ticks / SPAN_LEVELS[DAY_LEVEL]!.ticks))
}

/** Returns the span of a UTC day, counted from the epoch: the root from which all finer spans are cut. */
function daySpan(seed: number, dailyMovePpb: number, day: number): Span {
  const left = midnight(seed, dailyMovePpb, day)
  const right = midnight(seed, dailyMovePpb, day + 1)
  const reach = Math.floor((dailyMovePpb * 3) / 5)
  return {
    left,
    right,
    high: Math.max(left, right) + below(mix(seed, DAY_LEVEL, day, DAY_SALT.rise), reach),
    low: Math.min(left, right) - below(mix(seed, DAY_LEVEL, day, DAY_SALT.fall), reach),
  }
}

/** Returns the walk at the beginning of a day: the start price plus the waves, each a line between random heights. */
function midnight(seed: number, dailyMovePpb: number, day: number): number {
  let value = UNIT_PPB
  for (const { days, heightPercent } of WAVES) {
    const reach = Math.floor((dailyMovePpb * heightPercent) / 100)
    const from = Math.floor(day / days)
    const height = (at: number) => 2 * below(mix(seed, DAY_SALT.wave, days, at), reach) - reach
    const into = day - from * days
    value += Math.floor((height(from) * (days - into) + height(from + 1) * into) / days)
  }
  return value
}

/**
 * Returns the walk at tick `at` (0 .. 239) of a minute. It begins at `left` and goes in straight lines through the two
 * extremes, at two random ticks, toward `right`, with a jitter that never leaves the span. So high and low are reached
 * exactly. A rising minute has its low first.
 */
function minuteTick(seed: number, jitterPpb: number, minute: number, span: Span, at: number): number {
  if (at === 0) return span.left
  const firstAt = FIRST_TURN.from + below(mix(seed, minute, 0, MINUTE_SALT.turn), FIRST_TURN.count)
  const secondAt = SECOND_TURN.from + below(mix(seed, minute, 1, MINUTE_SALT.turn), SECOND_TURN.count)
  const [first, second] = span.right >= span.left ? [span.low, span.high] : [span.high, span.low]
  if (at === firstAt) return first
  if (at === secondAt) return second
  const jitter = 2 * below(mix(seed, minute, at, MINUTE_SALT.jitter), jitterPpb) - jitterPpb
  const onLine =
    at < firstAt
      ? between(span.left, first, at, firstAt)
      : at < secondAt
        ? between(first, second, at - firstAt, secondAt - firstAt)
        : between(second, span.right, at - secondAt, TICKS_PER_MINUTE - secondAt)
  return Math.min(span.high, Math.max(span.low, onLine + jitter))
}

function between(from: number, to: number, done: number, whole: number): number {
  return from + Math.floor(((to - from) * done) / whole)
}
