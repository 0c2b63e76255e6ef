/** Before the first new attempt: a cut connection is mostly back at once. */
export const MIN_RECONNECT_MS = 250

/** However long the feed has been away. */
export const MAX_RECONNECT_MS = 10_000

/**
 * How long to wait before attempt `attempt` (0 = the first after a loss): doubles up to the maximum, and a random half of it is taken off, so
 * that many services that lost the same feed do not come back in step. `random` is in [0, 1).
 */
export function reconnectDelayMs(attempt: number, random: number): number {
  const ceiling = Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** Math.min(attempt, 16))
  return Math.round(ceiling * (0.5 + random / 2))
}
