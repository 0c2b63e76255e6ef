/** A used nonce: its chain, its agent, and the timestamp of its request, after which it may be forgotten. */
export interface NonceClaim {
  /** Chain, agent and nonce in one text (`nonceKey`). */
  readonly key: string
  readonly timestampMs: number
}

/**
 * The replay window: a request is accepted while its timestamp is at most this far from the clock, so its nonce is used
 * up for as long.
 */
export const REPLAY_WINDOW_MS = 30_000

/**
 * Time for which a nonce is kept after its timestamp. The slack of 15 s covers a request that waits between the check
 * of its timestamp and the claim of its nonce; one that waits longer is refused.
 */
export const NONCE_KEPT_MS = REPLAY_WINDOW_MS + 15_000

const NONCE_PATTERN = /^(?:0|[1-9]\d{0,77})$/

/**
 * Returns the key of a nonce. It is also a line of the nonce file, so no part may hold a space or a line feed. Throws
 * when the nonce is not the canonical text of its number, because another text of the same number would be another key.
 */
export function nonceKey(chain: string, agent: string, nonce: string): string {
  if (!NONCE_PATTERN.test(nonce)) throw new RangeError('a nonce must be decimal digits without leading zeros')
  return `${chain} ${agent} ${nonce}`
}

/** The used nonces of the replay window, in memory. */
export interface NonceMemory {
  readonly size: number
  /** Claims up to this timestamp are no longer remembered, so none is accepted, even when the clock is set back. */
  readonly forgottenUpToMs: number
  /** True when the claim may be made at `nowMs`. */
  isFree(claim: NonceClaim, nowMs: number): boolean
  add(claim: NonceClaim): void
  /**
   * Returns the `forgottenUpToMs` that `turn` will set, once every claim of the older half has expired; before that
   * `undefined`.
   */
  dueTurn(nowMs: number): number | undefined
  /** Drops the older half, makes the younger one the older, and starts an empty younger one. */
  turn(): void
}

/** A set of claims that are forgotten together. */
interface Half {
  readonly byKey: Map<string, number>
  newestMs: number
}

/**
 * Creates the memory, in two halves: claims go into the younger one, and the older one is dropped as a whole once its
 * newest claim has expired. Forgetting then costs nothing per claim, but a claim is kept up to about twice as long as
 * needed.
 */
export function createNonceMemory(loaded: Iterable<NonceClaim> = [], forgottenUpToMs = -Infinity): NonceMemory {
  let older = emptyHalf()
  let younger = emptyHalf()
  let forgottenMs = forgottenUpToMs
  for (const claim of loaded) addTo(older, claim)

  return {
    get size() {
      return older.byKey.size + younger.byKey.size
    },
    get forgottenUpToMs() {
      return forgottenMs
    },
    isFree({ key, timestampMs }, nowMs) {
      // The upper bound prevents claims that would never be forgotten; the caller has already checked the replay
      // window.
      if (timestampMs <= forgottenMs || timestampMs > nowMs + NONCE_KEPT_MS) return false
      const usedMs = younger.byKey.get(key) ?? older.byKey.get(key)
      return usedMs === undefined || isReusable(usedMs, timestampMs, nowMs)
    },
    add: (claim) => addTo(younger, claim),
    dueTurn(nowMs) {
      const isDue = younger.byKey.size > 0 && older.newestMs + NONCE_KEPT_MS < nowMs
      return isDue ? Math.max(forgottenMs, older.newestMs) : undefined
    },
    turn() {
      forgottenMs = Math.max(forgottenMs, older.newestMs)
      older = younger
      younger = emptyHalf()
    },
  }
}

/**
 * True when an agent may use the nonce again: the window of the earlier request has passed, and the new request is
 * newer. The second condition refuses the earlier request itself when its window ended between check and claim.
 */
function isReusable(usedMs: number, timestampMs: number, nowMs: number): boolean {
  return usedMs < nowMs - REPLAY_WINDOW_MS && usedMs < timestampMs
}

function emptyHalf(): Half {
  return { byKey: new Map(), newestMs: -Infinity }
}

/** Adds a claim. The file and the table may hold the same claim, or an earlier use of the same nonce, in any order. */
function addTo(half: Half, { key, timestampMs }: NonceClaim): void {
  half.byKey.set(key, Math.max(timestampMs, half.byKey.get(key) ?? -Infinity))
  half.newestMs = Math.max(timestampMs, half.newestMs)
}
