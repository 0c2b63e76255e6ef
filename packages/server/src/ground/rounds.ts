import { StoreUnavailableError } from './unavailable.ts'

/** Work that comes again and again in the background. */
export interface Rounds {
  /** Done when the last round is. */
  close(): Promise<void>
}

export interface RoundsOptions {
  readonly everyMs: number
  /** Also now, not only after the first pause. */
  readonly isAtOnce?: boolean
  readonly round: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** One that takes longer than the pause is not joined by another. */
export function startRounds({ everyMs, isAtOnce = false, round, onError }: RoundsOptions): Rounds {
  let running: Promise<void> | undefined

  function begin(): void {
    running ??= round()
      .catch((error: unknown) => {
        // A store that is full or locked is told by every request already; the round just comes again.
        if (!(error instanceof StoreUnavailableError)) onError(error)
      })
      .finally(() => (running = undefined))
  }

  if (isAtOnce) begin()
  const timer = setInterval(begin, everyMs)
  return {
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
