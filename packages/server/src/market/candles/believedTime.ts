import type { Heard } from '../feed.ts'
import { MAX_AHEAD_MS, MAX_BEHIND_MS } from './limits.ts'

/**
 * When something was heard: by the feed's clock, which is also that of the upstream's history, as far as it can be believed. `clockMs` is the
 * latest time so far.
 *
 * A time of the future would end candles before they are over and make everything after it old, so hardly any of it is believed. A feed
 * that is always a few seconds ahead is then counted by our clock, and one that is always behind by its own: its candles end later, with the
 * right ticks in them. What has no time of its own comes in the order of its arrival, never before what was heard already, so that a feed
 * at the very limit does not go to and fro. So does everything while our own clock, put back, is behind where it was.
 */
export function believedTime({ timeMs, receivedAtMs }: Heard, clockMs: number): number {
  const isBelievable = timeMs <= receivedAtMs + MAX_AHEAD_MS && timeMs >= receivedAtMs - MAX_BEHIND_MS
  const isOurClockRight = clockMs <= receivedAtMs + MAX_AHEAD_MS
  return isBelievable && isOurClockRight ? timeMs : Math.max(receivedAtMs, clockMs)
}
