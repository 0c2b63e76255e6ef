import { setImmediate as nextTurn } from 'node:timers/promises'

/** Time that work may take without a break, and so the longest that requests wait for it. */
const WORK_MS = 5

/**
 * Returns a function that is called between two pieces of long work, and gives everything else a turn when the last
 * break was some time ago: statements of the store block the whole process while they run. `now` is a clock in
 * milliseconds that never goes back. Default `performance.now`.
 */
export function createBreaks(now: () => number = () => performance.now()): () => Promise<void> {
  let sinceMs = now()
  return async () => {
    if (now() - sinceMs < WORK_MS) return
    await nextTurn()
    sinceMs = now()
  }
}
