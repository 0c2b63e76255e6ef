/** The wait before the first new attempt. Short, because most broken connections are back at once. */
export const MIN_BACKOFF_MS = 250

/** The longest wait, however long the other side has been away. */
export const MAX_BACKOFF_MS = 10_000

/**
 * Exponential backoff with jitter: the milliseconds to wait before attempt `attempt` (0 = the first one after a loss).
 * The wait doubles up to `maxMs`, and a random part of up to half is taken off, so that many services that lost the
 * same server do not come back in step. `random` is in [0, 1); 1 gives the wait without jitter.
 */
export function backoffMs(attempt: number, random: number, maxMs = MAX_BACKOFF_MS): number {
  const ceiling = Math.min(maxMs, MIN_BACKOFF_MS * 2 ** Math.min(attempt, 16))
  return Math.round(ceiling * (0.5 + random / 2))
}
