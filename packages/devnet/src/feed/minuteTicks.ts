import { TICKS_PER_MINUTE } from './levels.ts'
import { below, mix } from './mix.ts'
import type { Span } from './span.ts'

const SALT = { turn: 21, jitter: 22 }

/** The two turns of a minute lie in these windows of ticks, so that no line between two points is too steep. */
const FIRST_TURN = { from: 20, count: 80 }
const SECOND_TURN = { from: 140, count: 80 }

/**
 * The walk at tick `at` (0 .. 239) of a minute: begins at `left`, goes in straight lines through its two extremes at two random ticks
 * toward `right`, with a jitter that never leaves the span. So high and low are reached exactly. A rising minute has its low first.
 */
export function minuteTick(seed: number, jitterPpb: number, minute: number, span: Span, at: number): number {
  if (at === 0) return span.left
  const firstAt = FIRST_TURN.from + below(mix(seed, minute, 0, SALT.turn), FIRST_TURN.count)
  const secondAt = SECOND_TURN.from + below(mix(seed, minute, 1, SALT.turn), SECOND_TURN.count)
  const [first, second] = span.right >= span.left ? [span.low, span.high] : [span.high, span.low]
  if (at === firstAt) return first
  if (at === secondAt) return second
  const jitter = 2 * below(mix(seed, minute, at, SALT.jitter), jitterPpb) - jitterPpb
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
