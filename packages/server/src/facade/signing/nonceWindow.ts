/** A nonce is the time of its request, and every client takes it from the clock: further away than this it is refused. */
export const NONCE_WINDOW_MS = 60_000

/**
 * How long a used nonce is kept after its time. The slack is for a request that waited between the check of its window and the claim in its
 * transaction.
 */
export const NONCE_KEPT_MS = NONCE_WINDOW_MS + 15_000

/** Both ends belong to the window. */
export function isInNonceWindow(nonce: number, nowMs: number): boolean {
  return Math.abs(nowMs - nonce) <= NONCE_WINDOW_MS
}
