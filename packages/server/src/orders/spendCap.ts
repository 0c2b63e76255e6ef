import { Usd } from '@bezel/protocol'
import type { Refolds } from '../journal/refold.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { listPreparedOrders } from '../store/orderStore.ts'
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
  const prepared = await listPreparedOrders(sql, chain, agent)
  const spentUsd = prepared
    .filter(({ state, spendDay }) => spendDay === day && isDue(state, nowMs))
    .reduce<bigint>((spent, { record }) => spent - record.spendUsd, await readSpentUsd(sql, chain, agent, day))
  return Usd.of(spentUsd)
}

/**
 * Throws `SCOPE_SPEND_CAP_EXCEEDED` in the transaction of a write, where it is binding: it is alone with its trader,
 * so that concurrent writes never pass the cap together. Expired orders are folded first, which gives their spend back.
 */
export async function requireSpend(
  sql: Sql,
  agent: AgentRecord,
  spendUsd: Usd,
  { nowMs, refolds }: { readonly nowMs: number; readonly refolds: Refolds },
): Promise<void> {
  const readSpent = (): Promise<Usd> => readSpentUsd(sql, agent.chain, agent.agent, utcDayOf(nowMs))
  const [prepared, standing] = await Promise.all([listPreparedOrders(sql, agent.chain, agent.agent), readSpent()])
  const due = prepared.filter(({ state }) => isDue(state, nowMs))
  for (const { record } of due) await refolds.of(record.id)
  const spentUsd = due.length === 0 ? standing : await readSpent()
  requireSpendCap(agent.scope, spentUsd, { spendUsd })
}

/** Returns true when an order is due to change by time, but its stored state is not updated yet. */
function isDue(state: OrderState | undefined, nowMs: number): boolean {
  const dueAtMs = state?.dueAtMs ?? null
  return dueAtMs !== null && dueAtMs <= nowMs
}
