/** Lets a number of things happen in any second, and the others a moment later, in their order. */
export interface Pacer {
  run(action: () => void): void
  /** Forgets those that wait. */
  close(): void
}

const SECOND_MS = 1_000

export function createPacer(perSecond: number, now: () => number = () => performance.now()): Pacer {
  /** When the last ones ran, oldest first; never more than `perSecond`. */
  const recentMs: number[] = []
  const waiting: (() => void)[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  function waitMs(): number {
    return recentMs.length < perSecond ? 0 : recentMs[0]! + SECOND_MS - now()
  }

  function work(): void {
    timer = undefined
    while (waiting.length > 0 && waitMs() <= 0) {
      if (recentMs.length >= perSecond) recentMs.shift()
      recentMs.push(now())
      waiting.shift()!()
    }
    if (waiting.length > 0) timer = setTimeout(work, Math.ceil(waitMs()))
  }

  return {
    run(action) {
      waiting.push(action)
      if (timer === undefined) work()
    },
    close() {
      waiting.length = 0
      clearTimeout(timer)
      timer = undefined
    },
  }
}
