import type { OrderId } from '@bezel/protocol'
import { createLru } from '../ground/lru.ts'
import {
  findTrigger,
  readTriggerOid,
  renewTriggerOid,
  takeTriggerOid,
  type FoundTrigger,
  type TriggerKey,
  type TriggerKind,
} from '../store/facadeTriggerStore.ts'
import type { Sql, Store } from '../store/sql.ts'

/**
 * Ids of take profits and stop losses. Natively they are fields of a position; in the facade they are orders with ids.
 */
export interface Triggers {
  /**
   * Returns the ids of triggers, in their order. An id is assigned when first asked for and stays until another order
   * replaces the trigger.
   */
  oidsOf(keys: readonly TriggerKey[]): Promise<readonly OrderId[]>
  /** Reads the id of a trigger; `undefined` while none is assigned. */
  knownOid(key: TriggerKey): Promise<OrderId | undefined>
  find(oid: OrderId): Promise<FoundTrigger | undefined>
  /**
   * Assigns a new id, in the transaction that replaces the trigger. Whoever cancels by the old id must not cancel the
   * replacement.
   */
  renew(sql: Sql, key: TriggerKey): Promise<OrderId>
  /** Remembers the new id, after that transaction has committed. */
  renewed(key: TriggerKey, oid: OrderId): void
  /** Marks a trigger as on its way to the chain, until `settled` or until `untilMs` (epoch ms). Kept in memory only. */
  sent(key: TriggerKey, untilMs: number): void
  settled(key: TriggerKey): void
  isOnItsWay(key: TriggerKey, nowMs: number): boolean
}

/** Number of triggers kept in memory. Others are read from the store again. */
const MAX_KNOWN = 50_000

export function createTriggers(store: Pick<Store, 'read' | 'transaction'>): Triggers {
  const known = createLru<string, OrderId>(MAX_KNOWN)
  const onTheirWayUntilMs = createLru<string, number>(MAX_KNOWN)

  /** Remembers the newest id. Ids increase, so one that was read before a renewal must not replace the renewed one. */
  function remember(key: TriggerKey, oid: OrderId): OrderId {
    const before = known.get(textOf(key))
    const newest = before !== undefined && Number(before) > Number(oid) ? before : oid
    known.set(textOf(key), newest)
    return newest
  }

  async function knownOid(key: TriggerKey): Promise<OrderId | undefined> {
    const oid = known.get(textOf(key)) ?? (await readTriggerOid(store.read, key))
    return oid === undefined ? undefined : remember(key, oid)
  }

  /** Assigns ids in one transaction, and remembers them only when it has committed. */
  async function take(keys: readonly TriggerKey[]): Promise<void> {
    const oids = await store.transaction(async (sql) => {
      const taken: OrderId[] = []
      for (const key of keys) taken.push(await takeTriggerOid(sql, key))
      return taken
    })
    keys.forEach((key, at) => remember(key, oids[at]!))
  }

  return {
    knownOid,
    find: (oid) => findTrigger(store.read, oid),
    renew: renewTriggerOid,
    renewed: (key, oid) => void remember(key, oid),
    sent: (key, untilMs) => onTheirWayUntilMs.set(textOf(key), untilMs),
    settled: (key) => onTheirWayUntilMs.delete(textOf(key)),
    isOnItsWay: (key, nowMs) => (onTheirWayUntilMs.get(textOf(key)) ?? 0) > nowMs,
    async oidsOf(keys) {
      const found = await Promise.all(keys.map(knownOid))
      const missing = keys.filter((_, at) => found[at] === undefined)
      if (missing.length > 0) await take(missing)
      return Promise.all(keys.map(async (key, at) => found[at] ?? (await knownOid(key))!))
    },
  }
}

/** Origin key of an order that executed a take profit or stop loss: the kind and the position id. */
const ORIGIN_PATTERN = /^(tp|sl):(\d+)$/

/** Returns the trigger that an order executed, or `undefined` for an order that somebody placed. */
export function triggerOfOrigin(originKey: string | null): TriggerKey | undefined {
  const [, kind, positionId] = ORIGIN_PATTERN.exec(originKey ?? '') ?? []
  if (kind === undefined || positionId === undefined) return undefined
  return { kind: kind as TriggerKind, positionId: positionId as OrderId }
}

export function originOfTrigger({ kind, positionId }: TriggerKey): string {
  return `${kind}:${positionId}`
}

function textOf({ positionId, kind }: TriggerKey): string {
  return `${positionId} ${kind}`
}
