const SECOND_MS = 1_000

/** Counts what one client sends, in seconds that start with a message. */
export interface MessageRate {
  /** Whether one more is within the limit. */
  isWithin(nowMs: number): boolean
}

export function createMessageRate(perSecond: number): MessageRate {
  let startMs = Number.NEGATIVE_INFINITY
  let count = 0
  return {
    isWithin(nowMs) {
      if (nowMs - startMs >= SECOND_MS) {
        startMs = nowMs
        count = 0
      }
      count += 1
      return count <= perSecond
    },
  }
}
