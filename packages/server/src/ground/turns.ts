import { setImmediate as nextTick } from 'node:timers/promises'

/** Work in small pieces, one at a time, with room for everything else in between. */
export interface Turns {
  /** Before all that is `later`. */
  soon<Result>(work: () => Promise<Result>): Promise<Result>
  /** First come, first served. */
  later<Result>(work: () => Promise<Result>): Promise<Result>
}

/** The longest that pieces follow each other without a break; requests and blocks wait no longer for them. */
const SLICE_MS = 4

/** For reads of the store, which hold up the whole process while they last: a thousand clients that come back at once ask for thousands of them. */
export function createTurns(): Turns {
  const urgent: (() => Promise<void>)[] = []
  const waiting: (() => Promise<void>)[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    // Never in the middle of what asked for it.
    await nextTick()
    for (let sliceStarted = performance.now(); ;) {
      const work = urgent.shift() ?? waiting.shift()
      if (work === undefined) break
      await work()
      if (performance.now() - sliceStarted < SLICE_MS) continue
      await nextTick()
      sliceStarted = performance.now()
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
