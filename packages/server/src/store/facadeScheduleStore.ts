import type { Address, ChainSlug } from '@bezel/protocol'
import type { Sql } from './sql.ts'

/** When a trader's resting orders are to be cancelled; each trader has at most one such time per chain. */
export interface ScheduledCancel {
  readonly chain: ChainSlug
  readonly trader: Address
  /** Who asked for it. */
  readonly agent: Address
  readonly dueAtMs: number
}

/** In place of the one before. */
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

/** Of one that was carried out; another that has taken its place meanwhile stays. */
export async function endSchedule(sql: Sql, { chain, trader, dueAtMs }: ScheduledCancel): Promise<void> {
  await sql.run('delete from facade_schedules where chain = $1 and trader = $2 and due_at = $3', chain, trader, dueAtMs)
}

/** Those that are due, the longest first, behind `after`. */
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
