import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Poll intervals: short at first, then longer, because polling takes time from the work it waits for. */
const FIRST_POLL_MS = 5
const MAX_POLL_MS = 40
/** Timeout that ends a hanging test. No test measures time with it, so it allows for a machine ten times slower. */
export const PATIENCE_MS = 240_000

/** The name of what is waited for, in the error of a wait that was too long. */
type What = string | (() => string)

/**
 * Waits until `look` returns a truthy value, for tests of background work, and returns it. Throws after `timeoutMs`,
 * also while a look hangs. The error names the condition by `what`, and shows what a look last passed to `saw`.
 */
export function until<Found>(
  what: What,
  look: (saw: (value: unknown) => void) => Found | Promise<Found>,
  timeoutMs = PATIENCE_MS,
): Promise<NonNullable<Found>> {
  let seen = ''
  const saw = (value: unknown): void => void (seen = `; last seen: ${inspect(value, { depth: 6 })}`)
  return within(
    () => nameOf(what) + seen,
    async (signal) => {
      for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
        const found = await look(saw)
        if (found) return found
        await sleep(pollMs, undefined, { signal })
      }
    },
    timeoutMs,
  )
}

/** Waits for work that may hang. After `timeoutMs` it aborts the work and throws an error that names it by `what`. */
export async function within<Result>(
  what: What,
  work: (signal: AbortSignal) => Promise<Result>,
  timeoutMs = PATIENCE_MS,
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const over = new AbortController()
  const timer = setTimeout(() => {
    reject(new Error(`it did not happen in ${timeoutMs} ms: ${nameOf(what)}`))
    over.abort()
  }, timeoutMs)
  try {
    return await Promise.race([work(over.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

function nameOf(what: What): string {
  return typeof what === 'string' ? what : what()
}
