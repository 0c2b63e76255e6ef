import { below, mix } from './mix.ts'

/**
 * A stretch of the walk in parts per billion of the start price. It begins at `left`, the next one begins at `right`, and `high` and
 * `low` are the exact extremes of its ticks.
 */
export interface Span {
  readonly left: number
  readonly right: number
  readonly high: number
  readonly low: number
}

/** Everything that cutting one span needs to know. */
export interface Cut {
  readonly seed: number
  readonly parent: Span
  /** Level of the parts, so that equal numbers of different levels hash apart. */
  readonly level: number
  /** Number of the first part since the epoch. */
  readonly first: number
  readonly parts: number
  /** How far a price moves within one part, in parts per billion. */
  readonly movePpb: number
}

const SALT = { knot: 1, high: 2, low: 3, rise: 4, fall: 5 }

/**
 * The parts of a span. One of them is given the parent's high and one its low, all others stay between, so the extremes of a span are
 * known without looking at its ticks.
 */
export function splitSpan(cut: Cut): readonly Span[] {
  const knots = knotsOf(cut)
  const ends = knots.slice(1).map((right, at) => ({ left: knots[at]!, right }))
  const peak = indexOfMost(ends.map(({ left, right }) => Math.max(left, right)))
  const trough = indexOfMost(ends.map(({ left, right }) => -Math.min(left, right)))
  return ends.map(({ left, right }, at) => ({
    left,
    right,
    high: at === peak ? cut.parent.high : highOf(cut, at, Math.max(left, right)),
    low: at === trough ? cut.parent.low : lowOf(cut, at, Math.min(left, right)),
  }))
}

/** The values where parts meet, with the parent's own ends: a line from end to end, shaken by what a part moves. */
function knotsOf(cut: Cut): number[] {
  const { left, right } = cut.parent
  const knots = Array.from({ length: cut.parts + 1 }, (_, at) => {
    const bridge = left + Math.floor(((right - left) * at) / cut.parts)
    if (at === 0 || at === cut.parts) return bridge
    return within(cut.parent, bridge + 2 * random(cut, at, SALT.knot) - cut.movePpb)
  })
  pullToExtremes(cut, knots)
  return knots
}

/** Without this an extreme far from every knot would be a lone spike: the whole way there and back within one part. */
function pullToExtremes(cut: Cut, knots: number[]): void {
  const { high, low } = cut.parent
  const inner = knots.slice(1, -1)
  const top = 1 + indexOfMost(inner)
  const bottom = 1 + indexOfMost(inner.map((knot, at) => (at + 1 === top ? -Infinity : -knot)))
  if (high - Math.max(...knots) > cut.movePpb) knots[top] = high - random(cut, top, SALT.high)
  if (Math.min(...knots) - low > cut.movePpb) knots[bottom] = low + random(cut, bottom, SALT.low)
}

function highOf(cut: Cut, at: number, from: number): number {
  return from + below(hash(cut, at, SALT.rise), Math.min(cut.movePpb, cut.parent.high - from + 1))
}

function lowOf(cut: Cut, at: number, from: number): number {
  return from - below(hash(cut, at, SALT.fall), Math.min(cut.movePpb, from - cut.parent.low + 1))
}

/** Mirrored at the border it passed, so that values do not pile up there. */
function within({ high, low }: Span, value: number): number {
  const mirrored = value > high ? 2 * high - value : value < low ? 2 * low - value : value
  return Math.min(high, Math.max(low, mirrored))
}

function indexOfMost(values: readonly number[]): number {
  return values.indexOf(Math.max(...values))
}

function random(cut: Cut, at: number, salt: number): number {
  return below(hash(cut, at, salt), cut.movePpb)
}

function hash(cut: Cut, at: number, salt: number): number {
  return mix(cut.seed, cut.level, cut.first + at, salt)
}
