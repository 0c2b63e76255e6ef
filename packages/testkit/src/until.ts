import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10

/** Waits for a condition, for tests of things that happen in the background. Throws when it does not come true in time. */
export async function until<Found>(
  what: string,
  look: () => Found | Promise<Found>,
  timeoutMs = 20_000,
): Promise<NonNullable<Found>> {
  for (const deadlineMs = Date.now() + timeoutMs; Date.now() < deadlineMs; await sleep(POLL_MS)) {
    const found = await look()
    if (found) return found
  }
  throw new Error(`it did not happen in ${timeoutMs} ms: ${what}`)
}
