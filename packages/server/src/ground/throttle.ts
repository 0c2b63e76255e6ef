/** Throttled work: it runs at once, but not again before an interval has passed. */
export interface Throttle {
  /** Runs the work now. Requests that come within the interval share one run at its end. */
  ask(): void
  close(): void
}

/** `now` is a clock in milliseconds that never goes back. Default `performance.now`. */
export function createThrottle(
  intervalMs: number,
  work: () => void,
  now: () => number = () => performance.now(),
): Throttle {
  let doneAtMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    timer = undefined
    doneAtMs = now()
    work()
  }

  return {
    ask() {
      if (timer !== undefined) return
      const waitMs = doneAtMs + intervalMs - now()
      if (waitMs <= 0) run()
      else timer = setTimeout(run, waitMs).unref()
    },
    close: () => clearTimeout(timer),
  }
}
