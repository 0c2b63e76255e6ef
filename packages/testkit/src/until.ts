import { setTimeout as sleep } from 'node:timers/promises'

/** Poll intervals: short at first, then longer, because polling takes time from the work it waits for. */
const FIRST_POLL_MS = 5
const MAX_POLL_MS = 40
/** Timeout that ends a hanging test. No test measures time with it, so it allows for a machine ten times slower. */
const PATIENCE_MS = 120_000

/**
 * Waits until `look` returns a truthy value, for tests of background work, and returns it. Throws after `timeoutMs`;
 * `what` names the condition in the error.
 */
export async function until<Found>(
  what: string | (() => string),
  look: () => Found | Promise<Found>,
  timeoutMs = PATIENCE_MS,
): Promise<NonNullable<Found>> {
  const deadlineMs = Date.now() + timeoutMs
  for (let pollMs = FIRST_POLL_MS; Date.now() < deadlineMs; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const found = await look()
    if (found) return found
    await sleep(pollMs)
  }
  throw new Error(`it did not happen in ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`)
}
