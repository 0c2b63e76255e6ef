const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 4_000

/** How long to wait before try `attempt` + 1 (the first is 0): doubling, and never less than the service asked for. */
export function retryDelayMs(attempt: number, retryAfterMs = 0): number {
  return Math.max(Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS), retryAfterMs)
}
