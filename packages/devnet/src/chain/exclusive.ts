/** A queue for a chain's writers: mining, reorgs, snapshots and state setters never interleave. */
export interface Exclusive {
  /** Runs the job after all earlier ones. */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Runs the job while callers from outside wait, so that nobody sees a half-done rewind. */
  runClosed<T>(job: () => Promise<T>): Promise<T>
  /** Returns undefined while requests may pass, otherwise a promise of the moment when they may. */
  closed(): Promise<void> | undefined
  /** Resolves when everything queued so far is done. */
  idle(): Promise<void>
}

/** Creates an empty queue. */
export function createExclusive(): Exclusive {
  let tail: Promise<unknown> = Promise.resolve()
  let gate: Promise<void> | undefined

  function run<T>(job: () => Promise<T>): Promise<T> {
    const result = tail.then(job)
    tail = result.catch(() => undefined)
    return result
  }

  async function behindGate<T>(job: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    try {
      return await job()
    } finally {
      gate = undefined
      resolve()
    }
  }

  return {
    run,
    runClosed: (job) => run(() => behindGate(job)),
    closed: () => gate,
    idle: () => tail.then(() => undefined),
  }
}
