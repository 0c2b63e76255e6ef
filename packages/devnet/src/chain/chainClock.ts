import { invalidParams } from './rpcError.ts'

/** What a snapshot has to bring back of the chain's time. */
export interface ClockState {
  offsetS: number
  nextS: number | undefined
}

/** Chain time: wall time plus what callers added to it, never going back and never running ahead by itself. */
export interface ChainClock {
  /** The timestamp for a block on this parent. Takes up what setNext asked for. */
  takeTimestampS(parentS: number): number
  /** Adds to chain time; gives the whole offset. */
  increase(seconds: number): number
  /** Asks for the next block's timestamp; chain time goes on from there. */
  setNext(timestampS: number, parentS: number): void
  save(): ClockState
  restore(state: ClockState): void
}

/** The end of the year 9999: later times have no date in most clients, and near 2^64 no block could follow. */
const MAX_TIMESTAMP_S = 253_402_300_799

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
