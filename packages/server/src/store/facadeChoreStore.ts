import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** A scheduled cancellation of a trader's resting orders. Each trader has at most one per chain. */
export interface ScheduledCancel {
  readonly chain: ChainSlug
  readonly trader: Address
  /** The agent that requested it. */
  readonly agent: Address
  readonly dueAtMs: number
}

/** Stores a schedule; replaces the trader's earlier one. */
export async function saveSchedule(sql: Sql, { chain, trader, agent, dueAtMs }: ScheduledCancel): Promise<void> {
  await sql.run(
    `insert into facade_schedules (chain, trader, agent, due_at) values ($1, $2, $3, $4)
     on conflict (chain, trader) do update set agent = excluded.agent, due_at = excluded.due_at`,
    chain,
    trader,
    agent,
    dueAtMs,
  )
}

export async function clearSchedule(sql: Sql, chain: ChainSlug, trader: Address): Promise<void> {
  await sql.run('delete from facade_schedules where chain = $1 and trader = $2', chain, trader)
}

/** Deletes a schedule that was carried out, unless another one has replaced it meanwhile. */
export async function endSchedule(sql: Sql, { chain, trader, dueAtMs }: ScheduledCancel): Promise<void> {
  await sql.run('delete from facade_schedules where chain = $1 and trader = $2 and due_at = $3', chain, trader, dueAtMs)
}

/** Lists the due schedules after `after`, the longest overdue first. */
export async function listDueSchedules(
  sql: Sql,
  chain: ChainSlug,
  of: {
    readonly nowMs: number
    readonly limit: number
    readonly after?: Pick<ScheduledCancel, 'dueAtMs' | 'trader'> | undefined
  },
): Promise<ScheduledCancel[]> {
  const rows = await sql.all<{ trader: string; agent: string; due_at: bigint }>(
    `select trader, agent, due_at from facade_schedules
     where chain = $1 and due_at <= $2 and (due_at, trader) > ($4, $5) order by due_at, trader limit $3`,
    chain,
    of.nowMs,
    of.limit,
    of.after?.dueAtMs ?? 0,
    of.after?.trader ?? '',
  )
  return rows.map(({ trader, agent, due_at }) => ({
    chain,
    trader: trader as Address,
    agent: agent as Address,
    dueAtMs: Number(due_at),
  }))
}

/**
 * Lists timed-out orders that this sender opened and that have no unexpired reclaim, oldest first, with ids above
 * `after`. Also those that a snapshot found, of traders with a relayed agent, because nobody knows who opened them.
 */
export async function listTimedOutRelayed(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly sender: Address; readonly nowMs: number; readonly after: OrderId | null; readonly limit: number },
): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select id from orders where chain = $1 and status = 'timed_out' and id > $5
     and (exists (
       select 1 from attempts where attempts.order_id = orders.id and attempts.kind = 'open' and attempts.sender = $2
     ) or (orders.origin_key like 'pending:%' and exists (
       select 1 from agents
       where agents.chain = orders.chain and agents.trader = orders.trader and agents.mode = 'relayed' and agents.revoked = 0
     ))) and not exists (
       select 1 from attempts where attempts.order_id = orders.id and attempts.kind = 'reclaim' and attempts.expires_at > $3
     ) and not exists (
       select 1 from attempt_orders as further join attempts on attempts.id = further.attempt_id
       where further.order_id = orders.id and further.kind = 'reclaim' and attempts.expires_at > $3
     ) order by id limit $4`,
    chain,
    of.sender,
    of.nowMs,
    of.limit,
    BigInt(of.after ?? 0),
  )
  return rows.map(({ id }) => String(id) as OrderId)
}

/** Stores that the closing slippage of a trade is to be put back to the default, so that its stops execute. */
export async function insertRestore(sql: Sql, chain: ChainSlug, positionId: OrderId): Promise<void> {
  await sql.run(
    `insert into facade_slippage_restores (position_id, chain) values ($1, $2)
     on conflict (position_id) do nothing`,
    BigInt(positionId),
    chain,
  )
}

/** Lists the trades whose closing slippage is to be put back, with ids above `after`. */
export async function listRestores(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly after: OrderId | null; readonly limit: number },
): Promise<OrderId[]> {
  const rows = await sql.all<{ position_id: bigint }>(
    `select position_id from facade_slippage_restores where chain = $1 and position_id > $2
     order by position_id limit $3`,
    chain,
    BigInt(of.after ?? 0),
    of.limit,
  )
  return rows.map((row) => String(row.position_id) as OrderId)
}

export async function deleteRestore(sql: Sql, positionId: OrderId): Promise<void> {
  await sql.run('delete from facade_slippage_restores where position_id = $1', BigInt(positionId))
}
