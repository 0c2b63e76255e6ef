/** How long to wait before the next attempt. */
export interface BackOff {
  /** Counts one more failed attempt. */
  nextMs(): number
  /** Attempts since the last success. */
  readonly attempts: number
  reset(): void
}

export interface BackOffOptions {
  readonly minMs: number
  readonly maxMs: number
  /** In [0, 1). */
  readonly random?: () => number
}

/** Doubles, and spreads each wait over its upper half, so that the clients of a service that restarts do not all come at once. */
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
