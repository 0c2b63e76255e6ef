import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS, type Address, type ChainSlug } from '@bezel/protocol'
import { every } from '../ground/every.ts'
import { createLru } from '../ground/lru.ts'
import { eraseCallerIps, writeAudit, type AuditOrigin } from '../store/auditStore.ts'
import { eraseClaimIps } from '../store/claimStore.ts'
import type { Store } from '../store/sql.ts'

/**
 * Writes refusals by a budget to the audit log: at most one entry a UTC day for a trader and a reason, as budgets are
 * renewed, so that a flood of refused actions writes nothing.
 */
export interface RefusalAudit {
  /** Notes a refusal. Returns before it is stored, because the refused transaction must end first. */
  note(refused: RefusedAction): void
}

/** An action that the service refused although its caller had the right to it. */
interface RefusedAction {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly agent: Address
  /** The request; absent for work that the service does by itself. */
  readonly origin?: AuditOrigin | undefined
  readonly reason: string
}

/** Refusals that are remembered. A forgotten one is told once more on its day. */
const MAX_REMEMBERED = 10_000

export function createRefusalAudit(of: {
  readonly store: Pick<Store, 'transaction'>
  readonly now: () => number
  readonly onError: (error: unknown) => void
}): RefusalAudit {
  /** The day of the last entry of each trader and reason. */
  const days = createLru<string, number>(MAX_REMEMBERED)
  return {
    note({ chain, trader, agent, origin, reason }) {
      const atMs = of.now()
      const day = Math.floor(atMs / DAY_MS)
      const key = `${chain} ${trader} ${reason}`
      if (days.get(key) === day) return
      days.set(key, day)
      const entry = { ...origin, chain, atMs, kind: 'relay_refused', trader, agent, detail: { reason } } as const
      of.store
        .transaction({ chain, trader }, (sql) => writeAudit(sql, entry))
        .catch((error: unknown) => {
          days.delete(key)
          of.onError(error)
        })
    },
  }
}

/** Pause between two rounds that erase callers' addresses. */
const ERASE_ROUND_MS = 3_600_000

/** Rows of one transaction, so that other writers do not wait long. */
const MAX_ERASED_AT_ONCE = 500

/**
 * Erases the callers' addresses of entries, and of claims that are to be told, older than `keepDays` at intervals.
 * Returns the function that ends it.
 */
export function eraseOldCallers(of: {
  readonly store: Store
  readonly keepDays: number
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly roundMs?: number
}): () => Promise<void> {
  const { store, keepDays, now, onError } = of
  async function round(): Promise<void> {
    const beforeMs = now() - keepDays * DAY_MS
    for (const erase of [eraseClaimIps, eraseCallerIps]) {
      let erased = MAX_ERASED_AT_ONCE
      while (erased === MAX_ERASED_AT_ONCE) {
        erased = await store.transaction({ name: 'cleanup' }, (sql) => erase(sql, beforeMs, MAX_ERASED_AT_ONCE))
        await nextTurn()
      }
    }
  }
  const rounds = every(of.roundMs ?? ERASE_ROUND_MS, round, { isAtOnce: true, onError })
  return () => rounds.close()
}
