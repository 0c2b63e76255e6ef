import { StoreUnavailableError } from './unavailable.ts'

/** Work that is repeated in the background. */
export interface Repetition {
  /** Resolves when the run that is under way has ended. */
  close(): Promise<void>
}

export interface EveryOptions {
  /** Also runs the work now, not only after the first interval. Default false. */
  readonly isAtOnce?: boolean
  /** Told the errors of a run. Without it an error is an unhandled rejection, which ends the process. */
  readonly onError?: (error: unknown) => void
}

export type Every = typeof every

/**
 * Runs `work` every `intervalMs`. An interval that ends while a run is under way starts no second one. Does not keep
 * the process alive. An unavailable store is not reported: every request reports it already, and the next run tries
 * again.
 */
export function every(
  intervalMs: number,
  work: () => void | Promise<void>,
  { isAtOnce = false, onError }: EveryOptions = {},
): Repetition {
  let running: Promise<void> | undefined

  function run(): void {
    running ??= Promise.try(work)
      .catch((error: unknown) => {
        if (error instanceof StoreUnavailableError) return
        if (onError === undefined) throw error
        onError(error)
      })
      .finally(() => (running = undefined))
  }

  if (isAtOnce) run()
  const timer = setInterval(run, intervalMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
