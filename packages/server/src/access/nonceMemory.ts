import { NONCE_KEPT_MS, REPLAY_WINDOW_MS, type NonceClaim } from './nonceClaim.ts'

/** The used nonces of the replay window. */
export interface NonceMemory {
  readonly size: number
  /** No claim up to this timestamp is remembered, so none is accepted, wherever the clock moves to. */
  readonly forgottenUpToMs: number
  /** Whether the claim may be made at `nowMs`. */
  isFree(claim: NonceClaim, nowMs: number): boolean
  add(claim: NonceClaim): void
  /** When every claim of the older half has expired: what `forgottenUpToMs` will be once that half is dropped. */
  dueTurn(nowMs: number): number | undefined
  /** Drops the older half and starts a new younger one. */
  turn(): void
}

/** Claims that are forgotten together. */
interface Half {
  readonly byKey: Map<string, number>
  newestMs: number
}

/**
 * Two halves: claims go into the younger one, and the older one is dropped whole once its newest claim has expired. That costs
 * nothing per claim, at the price of keeping a claim up to about twice as long as needed.
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
      // The upper bound keeps a claim from being remembered for ever; whether the request is in its window was decided before.
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
 * Once the window has passed, an agent may use the nonce again in a newer request. "Newer" is what keeps out the old request itself when
 * it was in its window at the check and no longer is now.
 */
export function isReusable(usedMs: number, timestampMs: number, nowMs: number): boolean {
  return usedMs < nowMs - REPLAY_WINDOW_MS && usedMs < timestampMs
}

function emptyHalf(): Half {
  return { byKey: new Map(), newestMs: -Infinity }
}

/** Files and table may hold the same claim, and an older use of the same nonce, in any order. */
function addTo(half: Half, { key, timestampMs }: NonceClaim): void {
  half.byKey.set(key, Math.max(timestampMs, half.byKey.get(key) ?? -Infinity))
  half.newestMs = Math.max(timestampMs, half.newestMs)
}
