import { invalidParams } from './jsonRpc.ts'

/** The part of the chain's time that a snapshot restores. */
export interface ClockState {
  offsetS: number
  nextS: number | undefined
}

/** The time of a chain: wall time plus what callers added. It never goes back, and never runs ahead by itself. */
export interface ChainClock {
  /** Returns the timestamp for a block on this parent, and uses up the one that `setNext` asked for. */
  takeTimestampS(parentS: number): number
  /** Adds to chain time and returns the whole offset in seconds. */
  increase(seconds: number): number
  /** Sets the next block's timestamp; chain time continues from there. */
  setNext(timestampS: number, parentS: number): void
  save(): ClockState
  restore(state: ClockState): void
}

/** The end of the year 9999: most clients have no date for later times, and near 2^64 no block could follow. */
const MAX_TIMESTAMP_S = 253_402_300_799

/** Creates the clock of a chain. `now` is wall time in milliseconds. */
export function createChainClock(now: () => number): ChainClock {
  let state: ClockState = { offsetS: 0, nextS: undefined }
  const wallS = (): number => Math.floor(now() / 1000)

  return {
    takeTimestampS(parentS) {
      const { nextS } = state
      if (nextS === undefined) return Math.max(parentS, wallS() + state.offsetS)
      state = { offsetS: nextS - wallS(), nextS: undefined }
      return nextS
    },
    increase(seconds) {
      checkReachable(wallS() + state.offsetS + seconds)
      state.offsetS += seconds
      return state.offsetS
    },
    setNext(timestampS, parentS) {
      if (timestampS < parentS)
        throw invalidParams(`timestamp ${timestampS} is lower than the latest block's, ${parentS}`)
      checkReachable(timestampS)
      state.nextS = timestampS
    },
    save: () => ({ ...state }),
    restore(saved) {
      state = { ...saved }
    },
  }
}

function checkReachable(timestampS: number): void {
  if (timestampS > MAX_TIMESTAMP_S) throw invalidParams(`timestamp ${timestampS} is beyond the year 9999`)
}
