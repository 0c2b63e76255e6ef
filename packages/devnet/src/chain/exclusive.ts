/** The order in which a chain's writers run: mining, reorgs, snapshots and state setters never interleave. */
export interface Exclusive {
  /** Runs the job after all earlier ones. */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Like run, and callers from outside wait meanwhile, so nobody sees a half-done rewind. */
  runClosed<T>(job: () => Promise<T>): Promise<T>
  /** Undefined while requests may pass; otherwise resolves when they may again. */
  closed(): Promise<void> | undefined
  /** Resolves when everything queued so far is done. */
  idle(): Promise<void>
}

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
