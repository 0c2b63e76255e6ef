import type { OrderId } from '@bezel/protocol'
import { putLast } from '../ground/putLast.ts'
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

/** Ids of take profits and stop losses: natively they are fields of a position, here they are orders that clients know by an id. */
export interface Triggers {
  /** The ids of these, in their order. Given out when first asked for, and the same until another order takes the place. */
  oidsOf(keys: readonly TriggerKey[]): Promise<readonly OrderId[]>
  /** `undefined` while nobody has asked for it. */
  knownOid(key: TriggerKey): Promise<OrderId | undefined>
  find(oid: OrderId): Promise<FoundTrigger | undefined>
  /** In the transaction that makes another order of it: a new id. Who cancels the old one must not cancel what took its place. */
  renew(sql: Sql, key: TriggerKey): Promise<OrderId>
  /** After that transaction. */
  renewed(key: TriggerKey, oid: OrderId): void
  /** It is on its way to the chain until it is `settled`, or this time comes (epoch ms). In memory. */
  sent(key: TriggerKey, untilMs: number): void
  settled(key: TriggerKey): void
  isOnItsWay(key: TriggerKey, nowMs: number): boolean
}

/** In memory; the oldest go first, and are read again when asked for. */
const MAX_KNOWN = 50_000

export function createTriggers(store: Pick<Store, 'read' | 'transaction'>): Triggers {
  const known = new Map<string, OrderId>()
  const onTheirWayUntilMs = new Map<string, number>()

  /** Ids grow: one that was read before it was renewed must not come back. */
  function remember(key: TriggerKey, oid: OrderId): OrderId {
    const before = known.get(textOf(key))
    const newest = before !== undefined && Number(before) > Number(oid) ? before : oid
    putLast(known, textOf(key), newest, MAX_KNOWN)
    return newest
  }

  async function knownOid(key: TriggerKey): Promise<OrderId | undefined> {
    const oid = known.get(textOf(key)) ?? (await readTriggerOid(store.read, key))
    return oid === undefined ? undefined : remember(key, oid)
  }

  /** All in one transaction; remembered only when it is committed. */
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
    sent: (key, untilMs) => putLast(onTheirWayUntilMs, textOf(key), untilMs, MAX_KNOWN),
    settled: (key) => void onTheirWayUntilMs.delete(textOf(key)),
    isOnItsWay: (key, nowMs) => (onTheirWayUntilMs.get(textOf(key)) ?? 0) > nowMs,
    async oidsOf(keys) {
      const found = await Promise.all(keys.map(knownOid))
      const missing = keys.filter((_, at) => found[at] === undefined)
      if (missing.length > 0) await take(missing)
      return Promise.all(keys.map(async (key, at) => found[at] ?? (await knownOid(key))!))
    },
  }
}

/** Orders that closed a position by its take profit or stop loss are found by a key that names both. */
const ORIGIN_PATTERN = /^(tp|sl):(\d+)$/

/** What an order that nobody placed was the execution of. */
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
