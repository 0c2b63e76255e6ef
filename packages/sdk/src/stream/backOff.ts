/** The pauses between failed attempts. */
interface BackOff {
  /** Counts a failed attempt and returns the pause before the next one, in milliseconds. */
  nextMs(): number
  /** Failed attempts since the last success. */
  readonly attempts: number
  /** Starts again with the shortest pause, after a success. */
  reset(): void
}

/** Bounds of the pauses. */
export interface BackOffOptions {
  readonly minMs: number
  readonly maxMs: number
  /** Source of randomness in [0, 1). Default `Math.random`. */
  readonly random?: () => number
}

/**
 * Creates exponential backoff. Each pause is drawn from the upper half of its range, so that the clients of a
 * restarting service do not all return at once.
 */
export function createBackOff({ minMs, maxMs, random = Math.random }: BackOffOptions): BackOff {
  let attempts = 0
  return {
    get attempts() {
      return attempts
    },
    nextMs() {
      const fullMs = Math.min(maxMs, minMs * 2 ** Math.min(attempts, 30))
      attempts += 1
      return Math.round(fullMs * (1 - random() / 2))
    },
    reset() {
      attempts = 0
    },
  }
}
