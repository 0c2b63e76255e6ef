import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS, type ChainSlug } from '@bezel/protocol'
import { every } from '../ground/every.ts'
import type { Sql, Store } from '../store/sql.ts'
import {
  forgetUnsentAttempt,
  forgetUnsentChange,
  listUnsentAttempts,
  listUnsentChanges,
  type UnsentPage,
  type UnsentTransaction,
} from '../store/unsentStore.ts'

export interface ForgetUnsentOptions {
  readonly store: Store
  readonly chains: readonly ChainSlug[]
  /** 0 keeps everything. */
  readonly keepDays: number
  readonly now: () => number
  /** Told the number of expired orders that were forgotten. */
  readonly onForgotten: (orders: number) => void
  readonly onError: (error: unknown) => void
  readonly roundMs?: number
}

/** Transactions that one statement looks at, and at most changes, so that other writers do not wait long. */
const LOOKS_AT_ONCE = 100

/**
 * Forgets what was prepared, never sent, and expired more than `keepDays` ago: transactions, and the orders that would
 * have begun with them. Looks at all of them once a day, until the returned function is called.
 */
export function forgetUnsent(of: ForgetUnsentOptions): () => Promise<void> {
  if (of.keepDays === 0) return async () => {}
  const closing = new AbortController()
  const round = async (): Promise<void> => {
    const beforeMs = of.now() - of.keepDays * DAY_MS
    for (const chain of of.chains) await forgetOrders(of, chain, beforeMs, closing.signal)
    await forgetChanges(of, beforeMs, closing.signal)
  }
  const rounds = every(of.roundMs ?? DAY_MS, round, { isAtOnce: true, onError: of.onError })
  return () => {
    closing.abort()
    return rounds.close()
  }
}

async function forgetOrders(
  { store, onForgotten }: ForgetUnsentOptions,
  chain: ChainSlug,
  beforeMs: number,
  signal: AbortSignal,
): Promise<void> {
  const list = (page: UnsentPage) => listUnsentAttempts(store.read, chain, page)
  await walk(list, { beforeMs, signal }, async (found) => {
    for (const [trader, ids] of Map.groupBy(found, (unsent) => unsent.trader)) {
      const orders = await store.transaction({ chain, trader }, (sql) => forgetAll(sql, ids))
      if (orders > 0) onForgotten(orders)
      await nextTurn()
    }
  })
}

/** Forgets transactions of one trader. Returns the number of orders that went with them. */
async function forgetAll(sql: Sql, unsent: readonly UnsentTransaction[]): Promise<number> {
  const forgotten = await Promise.all(unsent.map(({ id }) => forgetUnsentAttempt(sql, id)))
  return forgotten.reduce<number>((sum, orders) => sum + (orders ?? 0), 0)
}

async function forgetChanges({ store }: ForgetUnsentOptions, beforeMs: number, signal: AbortSignal): Promise<void> {
  const list = (page: UnsentPage) => listUnsentChanges(store.read, page)
  await walk(list, { beforeMs, signal }, async (found) => {
    const byTrader = Map.groupBy(found, ({ chain, trader }) => `${chain} ${trader}`)
    for (const changes of byTrader.values()) {
      const { chain, trader } = changes[0]!
      await store.transaction({ chain, trader }, async (sql) => {
        for (const change of changes) await forgetUnsentChange(sql, change)
      })
      await nextTurn()
    }
  })
}

/** Walks through what expired before a moment, page by page. */
async function walk<Unsent extends UnsentTransaction>(
  list: (page: UnsentPage) => Promise<Unsent[]>,
  { beforeMs, signal }: { readonly beforeMs: number; readonly signal: AbortSignal },
  forget: (found: readonly Unsent[]) => Promise<void>,
): Promise<void> {
  let after: UnsentPage['after'] = { expiresAtMs: 0, place: '' }
  for (;;) {
    if (signal.aborted) return
    const found = await list({ beforeMs, after, limit: LOOKS_AT_ONCE })
    const last = found.at(-1)
    if (last === undefined) return
    await forget(found)
    await nextTurn()
    after = last
  }
}
