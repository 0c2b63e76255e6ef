import type { OrderId } from '@bezel/protocol'
import { takeId } from './orderStore.ts'
import type { Sql } from './sql.ts'

/** Kind of trigger: take profit or stop loss. */
export type TriggerKind = 'tp' | 'sl'

/** Key of a trigger. Each position has at most one of each kind, whatever its price. */
export interface TriggerKey {
  readonly positionId: OrderId
  readonly kind: TriggerKind
}

/** Reads the order id of a trigger; `undefined` until one is assigned. */
export async function readTriggerOid(sql: Sql, { positionId, kind }: TriggerKey): Promise<OrderId | undefined> {
  const row = await sql.get<{ oid: bigint }>(
    'select oid from facade_triggers where position_id = $1 and kind = $2',
    BigInt(positionId),
    kind,
  )
  return row === undefined ? undefined : (String(row.oid) as OrderId)
}

/** Returns the order id of a trigger, or assigns the next one of the deployment's sequence. */
export async function takeTriggerOid(sql: Sql, key: TriggerKey): Promise<OrderId> {
  const known = await readTriggerOid(sql, key)
  if (known !== undefined) return known
  const oid = await takeId(sql)
  await sql.run(
    'insert into facade_triggers (position_id, kind, oid) values ($1, $2, $3)',
    BigInt(key.positionId),
    key.kind,
    BigInt(oid),
  )
  return oid
}

/** A trigger found by its order id. */
export interface FoundTrigger extends TriggerKey {
  /** True when another order has replaced this one. */
  readonly isFormer: boolean
}

/** Assigns a new order id to a trigger and returns it. The previous id is from then on found as a former one. */
export async function renewTriggerOid(sql: Sql, key: TriggerKey): Promise<OrderId> {
  const before = await readTriggerOid(sql, key)
  if (before === undefined) return takeTriggerOid(sql, key)
  const oid = await takeId(sql)
  const { positionId, kind } = key
  await sql.run(
    'insert into facade_former_triggers (oid, position_id, kind) values ($1, $2, $3)',
    BigInt(before),
    BigInt(positionId),
    kind,
  )
  await sql.run(
    'update facade_triggers set oid = $3 where position_id = $1 and kind = $2',
    BigInt(positionId),
    kind,
    BigInt(oid),
  )
  return oid
}

export async function findTrigger(sql: Sql, oid: OrderId): Promise<FoundTrigger | undefined> {
  const row = await sql.get<{ position_id: bigint; kind: string; is_former: bigint }>(
    `select position_id, kind, 0 as is_former from facade_triggers where oid = $1
     union all select position_id, kind, 1 as is_former from facade_former_triggers where oid = $1`,
    BigInt(oid),
  )
  if (row === undefined) return undefined
  const isFormer = Number(row.is_former) === 1
  return { positionId: String(row.position_id) as OrderId, kind: row.kind as TriggerKind, isFormer }
}
