import { ApiError } from '@bezel/protocol'
import { NodeUnavailableError } from './unavailable.ts'

/** Work that runs at least once after the last request for it, however many requests there were. */
export interface SingleFlight {
  ask(): void
}

export interface SingleFlightOptions {
  readonly work: () => Promise<void>
  /** Returns true when the work is no longer needed. */
  readonly isOver: () => boolean
  readonly onError: (error: unknown) => void
}

/** The pause before failed work is tried again. */
const RETRY_MS = 1_000

/**
 * Runs the work one run at a time: all requests that come during a run lead to one more run. Work that fails is tried
 * again.
 */
export function createSingleFlight({ work, isOver, onError }: SingleFlightOptions): SingleFlight {
  let isAsked = false
  let isWorking = false

  async function runWhileAsked(): Promise<void> {
    isWorking = true
    while (isAsked && !isOver()) {
      isAsked = false
      try {
        await work()
      } catch (error) {
        if (!isPassing(error)) onError(error)
        await new Promise<void>((resolve) => setTimeout(resolve, RETRY_MS).unref())
        isAsked = true
      }
    }
    isWorking = false
  }

  return {
    ask() {
      isAsked = true
      if (!isWorking) void runWhileAsked()
    },
  }
}

/**
 * Returns true for an error that is expected to go away by itself: a refusal such as `NOT_READY`, or an unavailable
 * node.
 */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError || error instanceof NodeUnavailableError
}
