import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import type { Heard } from '../feed/feed.ts'
import { MAX_CLOCK_STEP_MS, MAX_PAIRS, MAX_QUIET_MS, MAX_AHEAD_MS, MAX_BEHIND_MS } from './limits.ts'
import type { RunningState } from './runningState.ts'
import { addTickTo, advanceSeries, createSeries, endGap, type OnEnded, type Series } from './series.ts'

/** The series of all pairs, moved on by what the feed sends. */
export interface ListeningSeries {
  /** Applies a frame of the feed. Returns the pairs whose candles changed. */
  hear(heard: Heard): Iterable<number>
  /** Returns the feed's latest time; `undefined` before its first frame. */
  clockMs(): number | undefined
  /**
   * Returns a series; creates it when the time is known, also for a pair that does not tick, whose candles only the
   * upstream has.
   */
  of(pairIndex: number, interval: CandleInterval): Series | undefined
  all(): Iterable<Series>
}

type PairSeries = Readonly<Record<CandleInterval, Series>>

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]

/** The narrowest width. Every candle ends at a multiple of it. */
const STEP_MS = CANDLE_INTERVALS['1m']

/** Creates the series from a stored state, or empty ones without it. */
export function createListeningSeries(kept: RunningState | undefined, onEnded: OnEnded): ListeningSeries {
  const pairs = new Map<number, PairSeries>()
  let clockMs = kept?.clockMs
  let connection: number | undefined
  for (const series of kept?.series ?? []) {
    pairs.set(series.pairIndex, { ...pairOf(series.pairIndex), [series.interval]: series })
  }

  function pairOf(pairIndex: number): PairSeries {
    const known = pairs.get(pairIndex)
    if (known !== undefined) return known
    const made = INTERVALS.map((interval) => [interval, createSeries(pairIndex, interval, clockMs!)])
    const pair = Object.fromEntries(made) as PairSeries
    pairs.set(pairIndex, pair)
    return pair
  }

  function* all(): Iterable<Series> {
    for (const pair of pairs.values()) for (const interval of INTERVALS) yield pair[interval]
  }

  /**
   * Discards everything when the feed's clock is far ahead of the local one: accepted times never are, so the local
   * clock was wrong before.
   */
  function forgetFuture(nowMs: number): void {
    if (clockMs === undefined || clockMs - nowMs <= MAX_CLOCK_STEP_MS) return
    pairs.clear()
    clockMs = undefined
  }

  /** Moves the feed's clock forward. Returns true when candles ended. */
  function advance(timeMs: number): boolean {
    const beforeMs = clockMs ?? 0
    clockMs = Math.max(beforeMs, timeMs)
    if (Math.floor(beforeMs / STEP_MS) === Math.floor(clockMs / STEP_MS)) return false
    for (const series of all()) advanceSeries(series, clockMs, onEnded)
    return true
  }

  function addTicks(marks: Heard['marks'], timeMs: number): Set<number> {
    const changed = new Set<number>()
    for (const [pairIndex, mark] of marks) {
      if (pairs.size >= MAX_PAIRS && !pairs.has(pairIndex)) continue
      const pair = pairOf(pairIndex)
      for (const interval of INTERVALS) addTickTo(pair[interval], mark, timeMs)
      changed.add(pairIndex)
    }
    return changed
  }

  return {
    hear(heard) {
      forgetFuture(heard.receivedAtMs)
      const timeMs = believedTime(heard, clockMs ?? 0)
      const isQuiet = clockMs === undefined || timeMs - clockMs > MAX_QUIET_MS
      if (heard.connection !== connection || isQuiet) for (const series of all()) endGap(series, timeMs)
      connection = heard.connection
      const hasEnded = advance(timeMs)
      const changed = addTicks(heard.marks, timeMs)
      return hasEnded ? pairs.keys() : changed
    },
    clockMs: () => clockMs,
    of: (pairIndex, interval) => (clockMs === undefined ? undefined : pairOf(pairIndex)[interval]),
    all,
  }
}

/**
 * Returns the time that counts for a frame: the feed's, which is also the clock of the upstream's history, as far as it
 * is plausible. `clockMs` is the latest time so far.
 *
 * A time in the future would end candles too early and make everything after it late, so at most `MAX_AHEAD_MS` of lead
 * is accepted. A feed that is always further ahead is timed by the local clock. A feed that is always behind is timed
 * by its own clock: its candles end later, with the right ticks in them.
 *
 * A frame without a usable time is placed in the order of its arrival, never before an earlier frame, so that a feed at
 * the very limit does not jump back and forth. The same holds for all frames while the local clock, after it was set
 * back, is behind where it was.
 */
function believedTime({ timeMs, receivedAtMs }: Heard, clockMs: number): number {
  const isBelievable = timeMs <= receivedAtMs + MAX_AHEAD_MS && timeMs >= receivedAtMs - MAX_BEHIND_MS
  const isOurClockRight = clockMs <= receivedAtMs + MAX_AHEAD_MS
  return isBelievable && isOurClockRight ? timeMs : Math.max(receivedAtMs, clockMs)
}
