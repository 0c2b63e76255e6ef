import { ApiError, type OrderId } from '@bezel/protocol'
import { insertAttempt } from '../store/attemptStore.ts'
import { takeId, insertOrder, renewOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { Attempt, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { OrderPlan } from '../trading/plan/plan.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import type { Refolds } from '../journal/refold.ts'
import { keepPositionAttempts } from './prepareAttempt.ts'
import type { RelayPurpose, SignedWrite } from './signedWrite.ts'
import { requireSpend } from './spendCap.ts'

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
  const prepared = await requireSpend(sql, agent, plan.action.spendUsd, { nowMs, refolds: of.refolds })
  requireRoom(prepared, orders.settings.maxPreparedOrders)
  const terms = { agent: agent.agent, request: plan.request, spendUsd: plan.action.spendUsd }
  const record: OrderRecord =
    of.renewed === undefined
      ? { id: await takeId(sql), chain: slug, trader: agent.trader, createdAtMs: nowMs, originKey: null, ...terms }
      : { ...of.renewed, ...terms }
  if (of.renewed === undefined) await insertOrder(sql, record)
  else await renewOrder(sql, record)
  await insertAttempt(sql, { chain: slug, orderId: record.id, attempt })
  await keepPositionAttempts(sql, plan, attempt, 'reclaim')
  await relay?.take(sql, attempt, purposeOf(record))
  return { record, state: await of.refolds.of(record.id) }
}

function purposeOf({ id, request }: OrderRecord): RelayPurpose {
  if (request.kind !== 'close') return { kind: 'open', orderId: id }
  return { kind: 'close', positionIds: request.legs.map(({ positionId }) => positionId) }
}

function requireRoom(prepared: readonly OrderId[], limit: number): void {
  if (prepared.length < limit) return
  throw new ApiError(
    'TOO_MANY_PREPARED_ORDERS',
    `This agent has ${limit} prepared orders: broadcast or cancel one, or wait until one expires.`,
    { limit },
  )
}
