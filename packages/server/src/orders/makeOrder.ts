import { ApiError, type OrderId } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { insertAttempt } from '../store/attemptStore.ts'
import { takeId, insertOrder, listPreparedOrders, renewOrder } from '../store/orderStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import type { Sql } from '../store/sql.ts'
import type { Attempt, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { OrderPlan } from '../trading/plan/plan.ts'
import { requireScope, requireSpendCap, utcDayOf } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import type { Refolds } from '../journal/refold.ts'
import type { SignedWrite } from './signedWrite.ts'

/** An order whose transaction was simulated successfully, ready to be stored. */
export interface TriedOrder {
  readonly plan: OrderPlan
  readonly attempt: Attempt
}

/**
 * Stores a simulated order, in the transaction of its write. Only here are the agent's limits binding, because
 * transactions run one at a time. `renewed` is an order with the same clientId whose transactions have lapsed: it keeps
 * its id and is charged to the agent that prepares it now.
 */
export async function makeOrder(
  sql: Sql,
  orders: ChainOrders,
  { agent, relay }: Pick<SignedWrite, 'agent' | 'relay'>,
  { plan, attempt }: TriedOrder,
  of: { readonly refolds: Refolds; readonly renewed: OrderRecord | undefined },
): Promise<{ readonly record: OrderRecord; readonly state: OrderState }> {
  const { slug } = orders.chain
  const nowMs = attempt.createdAtMs
  requireScope(agent.scope, plan.action)
  const prepared = await sweepPrepared(sql, agent, nowMs, of.refolds)
  requireSpendCap(agent.scope, await readSpentUsd(sql, slug, agent.agent, utcDayOf(nowMs)), plan.action)
  requireRoom(prepared, orders.settings.maxPreparedOrders)
  const terms = { agent: agent.agent, request: plan.request, spendUsd: plan.action.spendUsd }
  const record: OrderRecord =
    of.renewed === undefined
      ? { id: await takeId(sql), chain: slug, trader: agent.trader, createdAtMs: nowMs, originKey: null, ...terms }
      : { ...of.renewed, ...terms }
  if (of.renewed === undefined) await insertOrder(sql, record)
  else await renewOrder(sql, record)
  await insertAttempt(sql, { chain: slug, orderId: record.id, attempt })
  await relay?.take(sql, attempt)
  return { record, state: await of.refolds.of(record.id) }
}

/** Folds the agent's expired orders, which frees their spend and places. Returns the orders that are still prepared. */
async function sweepPrepared(
  sql: Sql,
  { chain, agent }: AgentRecord,
  nowMs: number,
  refolds: Refolds,
): Promise<readonly OrderId[]> {
  const left: OrderId[] = []
  for (const { record, state } of await listPreparedOrders(sql, chain, agent)) {
    if (!isDue(state, nowMs) || (await refolds.of(record.id)).status === 'prepared') left.push(record.id)
  }
  return left
}

/** Returns true when an order is due to change by time, but its stored state is not updated yet. */
export function isDue(state: OrderState | undefined, nowMs: number): boolean {
  const dueAtMs = state?.dueAtMs ?? null
  return dueAtMs !== null && dueAtMs <= nowMs
}

function requireRoom(prepared: readonly OrderId[], limit: number): void {
  if (prepared.length < limit) return
  throw new ApiError(
    'TOO_MANY_PREPARED_ORDERS',
    `This agent has ${limit} prepared orders: broadcast or cancel one, or wait until one expires.`,
    { limit },
  )
}
