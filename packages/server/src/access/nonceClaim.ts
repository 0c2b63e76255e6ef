/** A nonce that was used: by whom, and with which timestamp, after which it may be forgotten. */
export interface NonceClaim {
  /** Chain, agent and nonce in one text, see `nonceKey`. */
  readonly key: string
  readonly timestampMs: number
}

/** A request is accepted while its timestamp is at most this far from the clock, so a nonce is used up for as long. */
export const REPLAY_WINDOW_MS = 30_000

/**
 * How long a nonce is kept after its timestamp. The slack is for a request that waited between the check of its timestamp and the claim
 * of its nonce; one that waited longer is refused, never let through.
 */
export const NONCE_KEPT_MS = REPLAY_WINDOW_MS + 15_000

const NONCE_PATTERN = /^(?:0|[1-9]\d{0,77})$/

/**
 * What a nonce is remembered under; also how it is written down, so none of the parts may hold a space or a line feed. Throws when the
 * nonce is not the one canonical text of its number, because another text of the same number would be another key.
 */
export function nonceKey(chain: string, agent: string, nonce: string): string {
  if (!NONCE_PATTERN.test(nonce)) throw new RangeError('a nonce must be decimal digits without leading zeros')
  return `${chain} ${agent} ${nonce}`
}
