import { Usd } from '@bezel/protocol'
import type { Refolds } from '../journal/refold.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { countPreparedTransactions, listPreparedOrders, type StoredOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'
import { requireSpendCap, utcDayOf } from '../trading/scope.ts'

/**
 * Throws `SCOPE_SPEND_CAP_EXCEEDED` when an amount does not fit into what is left of the agent's day. Runs before the
 * node is asked, so that this refusal comes before one of the contracts. Not binding, as other writes may spend
 * meanwhile.
 */
export async function checkSpendEarly(sql: Sql, agent: AgentRecord, spendUsd: Usd, nowMs: number): Promise<void> {
  if (agent.scope.dailySpendCapUsd === null || spendUsd === 0n) return
  requireSpendCap(agent.scope, await readStandingSpend(sql, agent, nowMs), { spendUsd })
}

/** Returns the amount counted today, without the expired orders that the next transaction gives back. */
export async function readStandingSpend(sql: Sql, { chain, agent }: AgentRecord, nowMs: number): Promise<Usd> {
  const day = utcDayOf(nowMs)
  const [prepared, countedUsd] = await Promise.all([
    listPreparedOrders(sql, chain, agent),
    readSpentUsd(sql, chain, agent, day),
  ])
  const spentUsd = prepared
    .filter(({ state, spendDay }) => spendDay === day && isDue(state, nowMs))
    .reduce<bigint>((spent, { record }) => spent - record.spendUsd, countedUsd)
  return Usd.of(spentUsd)
}

/** The part of an agent's limits that is in use. */
export interface AgentUse {
  /** Its prepared orders, expired ones too whose state is not updated yet. */
  readonly prepared: readonly StoredOrder[]
  /** Amount that counts on the day. */
  readonly spentUsd: Usd
  /** Number of transactions that its prepared orders wait for. */
  readonly waiting: number
}

/** Reads what an agent uses of its limits on the day of `nowMs`, in the transaction of a write. */
export async function readUse(
  sql: Sql,
  { chain, agent }: Pick<AgentRecord, 'chain' | 'agent'>,
  nowMs: number,
): Promise<AgentUse> {
  const [prepared, spentUsd, waiting] = await Promise.all([
    listPreparedOrders(sql, chain, agent),
    readSpentUsd(sql, chain, agent, utcDayOf(nowMs)),
    countPreparedTransactions(sql, chain, agent),
  ])
  return { prepared, spentUsd, waiting }
}

/**
 * Throws `SCOPE_SPEND_CAP_EXCEEDED` in the transaction of a write, where it is binding: it is alone with its trader,
 * so that concurrent writes never pass the cap together. Expired orders are folded first, which gives their spend back.
 * `use` was read in this transaction. Returns it as it is after that.
 */
export async function requireSpend(
  sql: Sql,
  agent: AgentRecord,
  spendUsd: Usd,
  { nowMs, refolds, use }: { readonly nowMs: number; readonly refolds: Refolds; readonly use: AgentUse },
): Promise<AgentUse> {
  const due = use.prepared.filter(({ state }) => isDue(state, nowMs))
  for (const { record } of due) await refolds.of(record.id)
  const after = due.length === 0 ? use : await readUse(sql, agent, nowMs)
  requireSpendCap(agent.scope, after.spentUsd, { spendUsd })
  return after
}

/** Returns true when an order is due to change by time, but its stored state is not updated yet. */
function isDue(state: OrderState | undefined, nowMs: number): boolean {
  const dueAtMs = state?.dueAtMs ?? null
  return dueAtMs !== null && dueAtMs <= nowMs
}
