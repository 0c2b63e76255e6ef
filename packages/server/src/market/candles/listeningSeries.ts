import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import type { Heard } from '../feed.ts'
import { believedTime } from './believedTime.ts'
import { MAX_CLOCK_STEP_MS, MAX_PAIRS, MAX_QUIET_MS } from './limits.ts'
import type { RunningState } from './runningState.ts'
import { addTickTo, advanceSeries, createSeries, endGap, type OnEnded, type Series } from './series.ts'

/** The series of all pairs, moved on by what is heard of the feed. */
export interface ListeningSeries {
  /** Returns the pairs whose candles changed. */
  hear(heard: Heard): Iterable<number>
  /** The feed's latest time; `undefined` before anything was ever heard. */
  clockMs(): number | undefined
  /** Made when it is asked for and the time is known: also of a pair that does not tick, whose candles only the upstream has. */
  of(pairIndex: number, interval: CandleInterval): Series | undefined
  all(): Iterable<Series>
}

type PairSeries = Readonly<Record<CandleInterval, Series>>

const INTERVALS = Object.keys(CANDLE_INTERVALS) as CandleInterval[]
/** The narrowest width: at no other moment does a candle end. */
const STEP_MS = CANDLE_INTERVALS['1m']

/** Goes on from a state that was kept, or from nothing. */
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

  /** No time that is believed is far ahead of ours, so ours was wrong. */
  function forgetFuture(nowMs: number): void {
    if (clockMs === undefined || clockMs - nowMs <= MAX_CLOCK_STEP_MS) return
    pairs.clear()
    clockMs = undefined
  }

  /** Returns whether candles ended. */
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
