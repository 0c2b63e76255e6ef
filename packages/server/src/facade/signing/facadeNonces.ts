import { StoreUnavailableError } from '../../ground/unavailable.ts'
import type { Address } from '@bezel/protocol'
import { insertFacadeNonce, loadFacadeNonces, pruneFacadeNonces } from '../../store/facadeNonceStore.ts'
import { type Sql, type Store } from '../../store/sql.ts'
import { isInNonceWindow, NONCE_KEPT_MS } from './nonceWindow.ts'
import { createUsedNonces } from './usedNonces.ts'

/**
 * Replay protection of the facade. The scheme binds neither chain nor service, so a nonce is used up for its signer on all chains at once. Nothing is ever
 * given back: an envelope was answered, and one that was refused could be replayed by whoever saw it when it would no longer be.
 */
export interface FacadeNonces {
  /** Early and in memory: whether the nonce is in its window and was free; now it is used up for this process. */
  take(signer: Address, nonce: number): boolean
  /** In the transaction of a write, after `take`: whether it was free in the store too; used up for good when that commits. */
  claim(sql: Sql, signer: Address, nonce: number): Promise<boolean>
  /** Both, with a transaction of its own: for an envelope that makes several writes, or that has to be used up even when it is refused. */
  use(signer: Address, nonce: number): Promise<boolean>
  /** How many are remembered, for metrics. */
  readonly size: number
}

/** About 100 MB when full, and more than one process can verify signatures for in the time a nonce is kept. */
const MAX_NONCES = 500_000

/** More often would only cost writes: what is left over is refused by its age anyway. */
const PRUNE_EVERY_MS = 10_000

/** Knows what earlier processes used. */
export async function createFacadeNonces(of: {
  readonly store: Store
  readonly now: () => number
  readonly maxNonces?: number
}): Promise<FacadeNonces> {
  const { store, now, maxNonces = MAX_NONCES } = of
  const stored = await loadFacadeNonces(store.read, now() - NONCE_KEPT_MS)
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

  /** The window once more, for callers that did not take it, with the slack of those that did. */
  async function claim(sql: Sql, signer: Address, nonce: number): Promise<boolean> {
    const nowMs = now()
    if (Math.abs(nowMs - nonce) > NONCE_KEPT_MS) return false
    await pruneSometimes(sql, nowMs)
    return insertFacadeNonce(sql, { signer, nonce })
  }

  async function pruneSometimes(sql: Sql, nowMs: number): Promise<void> {
    if (Math.abs(nowMs - prunedAtMs) < PRUNE_EVERY_MS) return
    prunedAtMs = nowMs
    await pruneFacadeNonces(sql, nowMs - NONCE_KEPT_MS)
  }

  return {
    take,
    claim,
    use: async (signer, nonce) => take(signer, nonce) && (await store.transaction((sql) => claim(sql, signer, nonce))),
    get size() {
      return used.size
    },
  }
}
