import type { MessageRate } from '../../stream/socket/messageRate.ts'

const SECOND_MS = 1_000

/** So many at once, and so many more with each second. */
export function createBurstRate({ burst, perSecond }: { burst: number; perSecond: number }): MessageRate {
  let left = burst
  let lastMs: number | undefined
  return {
    isWithin(nowMs) {
      const gained = ((nowMs - (lastMs ?? nowMs)) / SECOND_MS) * perSecond
      lastMs = nowMs
      left = Math.min(burst, left + gained) - 1
      if (left >= 0) return true
      left = 0
      return false
    },
  }
}
