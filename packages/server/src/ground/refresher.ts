import { NodeUnavailableError } from './unavailable.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@bezel/protocol'

/** Work of which it only matters that it is done after it was last asked for. */
export interface Refresher {
  ask(): void
}

export interface RefresherOptions {
  readonly work: () => Promise<void>
  /** Nobody wants it any more. */
  readonly isOver: () => boolean
  readonly onError: (error: unknown) => void
}

/** What can't be done is tried again this much later. */
const RETRY_MS = 1_000

/** One at a time: who asks while it is done has it done once more, and what fails is tried again. */
export function createRefresher({ work, isOver, onError }: RefresherOptions): Refresher {
  let isAsked = false
  let isWorking = false

  async function workOn(): Promise<void> {
    isWorking = true
    while (isAsked && !isOver()) {
      isAsked = false
      try {
        await work()
      } catch (error) {
        if (!isPassing(error)) onError(error)
        await sleep(RETRY_MS, undefined, { ref: false })
        isAsked = true
      }
    }
    isWorking = false
  }

  return {
    ask() {
      isAsked = true
      if (!isWorking) void workOn()
    },
  }
}

/** What is not there now, and is nobody's fault. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError || error instanceof NodeUnavailableError
}
