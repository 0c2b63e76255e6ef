export interface InFlightLimit {
  /** Runs the job, after waiting if too many are under way. */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Like run, but before all that wait. */
  runNext<T>(job: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/** Lets at most `limit` jobs run at once; the others wait in the order they came. */
export function createInFlightLimit(limit: number): InFlightLimit {
  let running = 0
  const waiting: (() => void)[] = []
  let idleWaiters: (() => void)[] = []

  function release(): void {
    running -= 1
    waiting.shift()?.()
    if (running > 0 || idleWaiters.length === 0) return
    idleWaiters.forEach((resolve) => resolve())
    idleWaiters = []
  }

  function start<T>(job: () => Promise<T>): Promise<T> {
    running += 1
    return job().finally(release)
  }

  return {
    run(job) {
      if (running < limit) return start(job)
      return new Promise((resolve) => waiting.push(() => resolve(start(job))))
    },
    runNext(job) {
      if (running < limit) return start(job)
      return new Promise((resolve) => waiting.unshift(() => resolve(start(job))))
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve))),
  }
}
