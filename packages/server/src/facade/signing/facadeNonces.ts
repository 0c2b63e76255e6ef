import type { Address } from '@bezel/protocol'
import { StoreUnavailableError } from '../../ground/unavailable.ts'
import { insertFacadeNonce, loadFacadeNonces, pruneFacadeNonces, type UsedNonce } from '../../store/facadeNonceStore.ts'
import type { Store, Transaction } from '../../store/sql.ts'

/**
 * Largest distance of a nonce from the server's clock. A nonce is the time of its request, which every client takes
 * from its clock.
 */
export const NONCE_WINDOW_MS = 60_000

/**
 * Time that a used nonce is kept after its own time. The slack covers a request that waits between the check of its
 * window and the claim in its transaction.
 */
export const FACADE_NONCE_KEPT_MS = NONCE_WINDOW_MS + 15_000

/** True when the nonce is in the window, both ends included. */
export function isInNonceWindow(nonce: number, nowMs: number): boolean {
  return Math.abs(nowMs - nonce) <= NONCE_WINDOW_MS
}

/**
 * Replay protection of the facade. The signing scheme binds neither chain nor service, so a nonce is used up for its
 * signer on all chains at once. A nonce is never given back: anyone who saw a refused envelope could replay it at a
 * time when it would no longer be refused.
 */
export interface FacadeNonces {
  /** Uses up a nonce for this process, in memory. Returns false when it is outside its window or was used before. */
  take(signer: Address, nonce: number): boolean
  /**
   * Uses up a nonce in the transaction of a write, after `take`; final once that commits. Returns false when the store
   * has it already.
   */
  claim(sql: Transaction, signer: Address, nonce: number): Promise<boolean>
  /**
   * Takes and claims in a transaction of its own, for an envelope that makes several writes, or that is used up even
   * when it is refused.
   */
  use(signer: Address, nonce: number): Promise<boolean>
  /** The number of remembered nonces, for metrics. */
  readonly size: number
}

/**
 * Bound of the remembered nonces. About 100 MB when full, and more signatures than one process can verify while a nonce
 * is kept.
 */
const MAX_NONCES = 500_000

/** Time between two prunes. More often would only cost writes, because old nonces are refused by their age anyway. */
const PRUNE_EVERY_MS = 10_000

/** Creates the replay protection, and loads the nonces that earlier processes used. */
export async function createFacadeNonces(of: {
  readonly store: Store
  readonly now: () => number
  readonly maxNonces?: number
}): Promise<FacadeNonces> {
  const { store, now, maxNonces = MAX_NONCES } = of
  const stored = await loadFacadeNonces(store.read, now() - FACADE_NONCE_KEPT_MS)
  const used = createUsedNonces(stored.nonces, stored.forgottenUpToMs)
  let prunedAtMs = -Infinity

  function take(signer: Address, nonce: number): boolean {
    const nowMs = now()
    used.forget(nowMs)
    if (!isInNonceWindow(nonce, nowMs) || used.has({ signer, nonce })) return false
    if (used.size >= maxNonces) throw new StoreUnavailableError(`${maxNonces} nonces are in use already`)
    used.add({ signer, nonce })
    return true
  }

  /**
   * Claims a nonce. Checks the window again, for callers that did not `take` it first, widened by the slack for those
   * that did.
   */
  async function claim(sql: Transaction, signer: Address, nonce: number): Promise<boolean> {
    const nowMs = now()
    if (Math.abs(nowMs - nonce) > FACADE_NONCE_KEPT_MS) return false
    await pruneSometimes(sql, nowMs)
    return insertFacadeNonce(sql, { signer, nonce })
  }

  async function pruneSometimes(sql: Transaction, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - prunedAtMs) < PRUNE_EVERY_MS) return
    sql.afterCommit(() => void (prunedAtMs = nowMs))
    await pruneFacadeNonces(sql, nowMs - FACADE_NONCE_KEPT_MS)
  }

  return {
    take,
    claim,
    use: async (signer, nonce) =>
      take(signer, nonce) && (await store.transaction({ name: 'nonces' }, (sql) => claim(sql, signer, nonce))),
    get size() {
      return used.size
    },
  }
}

/** Used nonces in memory. */
interface UsedNonces {
  readonly size: number
  has(used: UsedNonce): boolean
  add(used: UsedNonce): void
  /** Removes nonces that have left the window. */
  forget(nowMs: number): void
}

/** Length of a span. Nonces of one span are removed together, so that removal costs nothing per nonce. */
const SPAN_MS = 5_000

/** Creates the set of used nonces, grouped by time span: a nonce is a time, so expired ones go as whole spans. */
function createUsedNonces(loaded: Iterable<UsedNonce>, forgottenUpToMs: number): UsedNonces {
  const spans = new Map<number, Set<string>>()
  /** The time up to which nonces were removed. No nonce before it counts as free, even if the clock moves back. */
  let forgottenMs = forgottenUpToMs
  let size = 0

  function add({ signer, nonce }: UsedNonce): void {
    const span = spans.get(spanOf(nonce)) ?? new Set()
    spans.set(spanOf(nonce), span)
    const before = span.size
    size += span.add(keyOf(signer, nonce)).size - before
  }

  for (const used of loaded) add(used)
  return {
    get size() {
      return size
    },
    has: ({ signer, nonce }) => nonce <= forgottenMs || spans.get(spanOf(nonce))?.has(keyOf(signer, nonce)) === true,
    add,
    forget(nowMs) {
      for (const [span, keys] of spans) {
        const lastMs = (span + 1) * SPAN_MS - 1
        if (lastMs >= nowMs - FACADE_NONCE_KEPT_MS) continue
        spans.delete(span)
        size -= keys.size
        forgottenMs = Math.max(forgottenMs, lastMs)
      }
    },
  }
}

function spanOf(nonce: number): number {
  return Math.floor(nonce / SPAN_MS)
}

function keyOf(signer: Address, nonce: number): string {
  return `${signer} ${nonce}`
}
