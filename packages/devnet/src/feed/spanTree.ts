/** Interval at which prices are published. */
export const TICK_MS = 250

/** One minute in milliseconds. */
export const MINUTE_MS = 60_000

/** Ticks in one minute. */
export const TICKS_PER_MINUTE = MINUTE_MS / TICK_MS

/** A width of span in the walk's tree. */
interface Level {
  readonly minutes: number
  readonly ticks: number
  /** Number of spans of this level in one of the level above; 1 for the top. */
  readonly parts: number
}

const level = (minutes: number, parts: number): Level => ({ minutes, ticks: minutes * TICKS_PER_MINUTE, parts })

/**
 * The levels of the tree: a day is cut into 4-hour spans, those into hours, and so on down to minutes. They are the
 * widths of candles, so that a candle is one span (30 minutes are two). Every cut makes three or more parts, which
 * `splitSpan` needs.
 */
export const SPAN_LEVELS: readonly Level[] = [
  level(1440, 1),
  level(240, 6),
  level(60, 4),
  level(15, 4),
  level(5, 3),
  level(1, 5),
]

export const DAY_LEVEL = 0

export const MINUTE_LEVEL = SPAN_LEVELS.length - 1

/** The level whose spans are the naps of a sleepy pair: five minutes. */
export const NAP_LEVEL = SPAN_LEVELS.findIndex(({ minutes }) => minutes === 5)

/**
 * A span of the walk, in parts per billion of the start price. It begins at `left`, the next one begins at `right`, and
 * `high` and `low` are the exact extremes of its ticks.
 */
export interface Span {
  readonly left: number
  readonly right: number
  readonly high: number
  readonly low: number
}

/** The input of cutting one span. */
export interface Cut {
  readonly seed: number
  readonly parent: Span
  /** Level of the parts, so that equal numbers on different levels hash apart. */
  readonly level: number
  /** Number of the first part, counted from the epoch. */
  readonly first: number
  readonly parts: number
  /** Movement of a price within one part, in parts per billion. */
  readonly movePpb: number
  /** Returns true for a part, by its number, in which the price stands still. Never true for two neighbours. */
  readonly isNap: (part: number) => boolean
}

const SALT = { knot: 1, high: 2, low: 3, rise: 4, fall: 5 }

/**
 * Cuts a span into parts. One of them gets the parent's high and one its low, all others stay between, so the extremes
 * of a span are known without looking at its ticks. A nap is flat, and gets neither.
 */
export function splitSpan(cut: Cut): readonly Span[] {
  const knots = knotsOf(cut)
  const ends = knots.slice(1).map((right, at) => ({ left: knots[at]!, right, isNap: isNapAt(cut, at) }))
  const peak = indexOfMost(ends.map(({ left, right, isNap }) => (isNap ? -Infinity : Math.max(left, right))))
  const trough = indexOfMost(ends.map(({ left, right, isNap }) => (isNap ? -Infinity : -Math.min(left, right))))
  return ends.map(({ left, right, isNap }, at) => {
    if (isNap) return { left, right, high: left, low: left }
    const high = at === peak ? cut.parent.high : highOf(cut, at, Math.max(left, right))
    const low = at === trough ? cut.parent.low : lowOf(cut, at, Math.min(left, right))
    return { left, right, high, low }
  })
}

function isNapAt({ isNap, first }: Cut, at: number): boolean {
  return isNap(first + at)
}

/**
 * Returns the values where parts meet, with the parent's own ends: a line from end to end, varied by the movement of a
 * part.
 */
function knotsOf(cut: Cut): number[] {
  const { left, right } = cut.parent
  const knots = Array.from({ length: cut.parts + 1 }, (_, at) => {
    const bridge = left + Math.floor(((right - left) * at) / cut.parts)
    if (at === 0 || at === cut.parts) return bridge
    return within(cut.parent, bridge + 2 * random(cut, at, SALT.knot) - cut.movePpb)
  })
  pullToExtremes(cut, knots)
  flattenNaps(cut, knots)
  return knots
}

/** Joins the two ends of each nap. The parent's own ends stay where they are. */
function flattenNaps(cut: Cut, knots: number[]): void {
  for (let at = 0; at < cut.parts; at += 1) {
    if (!isNapAt(cut, at)) continue
    if (at + 1 === cut.parts) knots[at] = knots[at + 1]!
    else knots[at + 1] = knots[at]!
  }
}

/**
 * Pulls a knot toward a far extreme, which would otherwise be a lone spike: the whole way there and back within one
 * part.
 */
function pullToExtremes(cut: Cut, knots: number[]): void {
  const { high, low } = cut.parent
  const inner = knots.slice(1, -1)
  const top = 1 + indexOfMost(inner)
  const bottom = 1 + indexOfMost(inner.map((knot, at) => (at + 1 === top ? -Infinity : -knot)))
  if (high - Math.max(...knots) > cut.movePpb) knots[top] = high - random(cut, top, SALT.high)
  if (Math.min(...knots) - low > cut.movePpb) knots[bottom] = low + random(cut, bottom, SALT.low)
}

function highOf(cut: Cut, at: number, from: number): number {
  return from + below(hashPart(cut, at, SALT.rise), Math.min(cut.movePpb, cut.parent.high - from + 1))
}

function lowOf(cut: Cut, at: number, from: number): number {
  return from - below(hashPart(cut, at, SALT.fall), Math.min(cut.movePpb, from - cut.parent.low + 1))
}

/** Mirrors a value at the border it passed, so that values do not pile up there. */
function within({ high, low }: Span, value: number): number {
  const mirrored = value > high ? 2 * high - value : value < low ? 2 * low - value : value
  return Math.min(high, Math.max(low, mirrored))
}

function indexOfMost(values: readonly number[]): number {
  return values.indexOf(Math.max(...values))
}

function random(cut: Cut, at: number, salt: number): number {
  return below(hashPart(cut, at, salt), cut.movePpb)
}

function hashPart(cut: Cut, at: number, salt: number): number {
  return mix(cut.seed, cut.level, cut.first + at, salt)
}

/**
 * Returns a 32-bit hash of four words (the MurmurHash3 round and finish). It uses integer operations only, so every
 * machine computes the same walk.
 */
export function mix(seed: number, a: number, b: number, c: number): number {
  let hash = round(round(round(seed | 0, a), b), c)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Picks evenly from `0 .. bound - 1` by a hash. Exact in a double for every bound up to 2^29, because only 24 bits of
 * the hash are used.
 */
export function below(hash: number, bound: number): number {
  return Math.floor(((hash >>> 8) * bound) / 0x1000000)
}

function round(hash: number, word: number): number {
  const scrambled = Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotateLeft(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
