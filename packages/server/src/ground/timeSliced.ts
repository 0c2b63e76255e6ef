import { setImmediate as nextTick } from 'node:timers/promises'

/**
 * A queue of small pieces of work, run one at a time in time slices, so that everything else gets its share in between.
 */
export interface TimeSliced {
  /** Runs the work before everything queued by `later`. */
  soon<Result>(work: () => Promise<Result>): Promise<Result>
  /** Runs the work in the order of the calls, after everything queued by `soon`. */
  later<Result>(work: () => Promise<Result>): Promise<Result>
}

/** The longest time that pieces run without a break, and so the longest that requests and blocks wait for them. */
const SLICE_MS = 4

/**
 * Creates a queue. Made for reads of the store, which block the whole process while they run: a thousand clients that
 * reconnect at once cause thousands of them. `now` is a clock in milliseconds that never goes back. Default
 * `performance.now`.
 */
export function createTimeSliced(now: () => number = () => performance.now()): TimeSliced {
  const urgent: (() => Promise<void>)[] = []
  const waiting: (() => Promise<void>)[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    // Work never starts inside the call that queued it.
    await nextTick()
    for (let sliceStartMs = now(); ;) {
      const work = urgent.shift() ?? waiting.shift()
      if (work === undefined) break
      await work()
      if (now() - sliceStartMs < SLICE_MS) continue
      await nextTick()
      sliceStartMs = now()
    }
    isRunning = false
  }

  function queue<Result>(line: (() => Promise<void>)[], work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      line.push(() => work().then(resolve, reject))
      if (!isRunning) void runAll()
    })
  }

  return { soon: (work) => queue(urgent, work), later: (work) => queue(waiting, work) }
}
