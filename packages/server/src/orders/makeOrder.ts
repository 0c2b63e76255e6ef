import { ApiError, type OrderId } from '@bezel/protocol'
import { insertAttempt } from '../store/attemptStore.ts'
import { insertOrder, renewOrder, takeId } from '../store/orderStore.ts'
import type { Sql, Transaction } from '../store/sql.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { Attempt, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { OrderPlan } from '../trading/plan/plan.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import type { Refolds } from '../journal/refold.ts'
import { keepPositionAttempts } from './prepareAttempt.ts'
import type { RelayPurpose, SignedWrite } from './signedWrite.ts'
import { readUse, requireSpend, type AgentUse } from './spendCap.ts'

/** An order whose transaction was simulated successfully, ready to be stored. */
export interface TriedOrder {
  readonly plan: OrderPlan
  readonly attempt: Attempt
}

/** An order as stored, with its state. */
interface MadeOrder {
  readonly record: OrderRecord
  readonly state: OrderState
}

/** The needs of a new order: the agent's use of its limits as of the transaction, and an id. */
export interface OrderRoom {
  readonly use: AgentUse
  /** An id for the order; `undefined` where it has one. */
  readonly id: OrderId | undefined
}

/** Reads what a new order needs, all at once. `nowMs` is the time at which its attempt was made. */
export async function readRoom(
  sql: Sql,
  agent: Pick<AgentRecord, 'chain' | 'agent'>,
  { nowMs, isNew }: { readonly nowMs: number; readonly isNew: boolean },
): Promise<OrderRoom> {
  const [use, id] = await Promise.all([readUse(sql, agent, nowMs), isNew ? takeId(sql) : undefined])
  return { use, id }
}

/**
 * Stores a simulated order, in the transaction of its write. Only here are the agent's limits binding, because the
 * write is alone with its trader. `renewed` is an order with the same clientId whose transactions have lapsed: it keeps
 * its id and is charged to the agent that prepares it now.
 */
export async function makeOrder(
  sql: Transaction,
  orders: ChainOrders,
  write: Pick<SignedWrite, 'agent' | 'relay'>,
  tried: TriedOrder,
  of: { readonly refolds: Refolds; readonly renewed: OrderRecord | undefined; readonly room: OrderRoom },
): Promise<MadeOrder> {
  const { spendUsd } = tried.plan.action
  const { refolds, renewed, room } = of
  const use = await requireSpend(sql, write.agent, spendUsd, {
    nowMs: tried.attempt.createdAtMs,
    refolds,
    use: room.use,
  })
  requireRoom(use, orders.settings.maxPreparedOrders)
  return storeOrder(sql, orders, write, tried, { refolds, renewed, id: room.id })
}

/**
 * Stores a simulated order whose agent has spend and room left. `place` is its place among the orders of its
 * transaction; default 0. `id` was taken for it; default: the next one.
 */
export async function storeOrder(
  sql: Transaction,
  orders: Pick<ChainOrders, 'chain'>,
  { agent, relay }: Pick<SignedWrite, 'agent' | 'relay'>,
  { plan, attempt }: TriedOrder,
  of: {
    readonly refolds: Refolds
    readonly renewed: OrderRecord | undefined
    readonly place?: number
    readonly id?: OrderId | undefined
  },
): Promise<MadeOrder> {
  const { slug } = orders.chain
  const nowMs = attempt.createdAtMs
  requireScope(agent.scope, plan.action)
  const terms = { agent: agent.agent, request: plan.request, spendUsd: plan.action.spendUsd }
  const record: OrderRecord =
    of.renewed === undefined
      ? {
          id: of.id ?? (await takeId(sql)),
          chain: slug,
          trader: agent.trader,
          createdAtMs: nowMs,
          originKey: null,
          ...terms,
        }
      : { ...of.renewed, ...terms }
  await Promise.all([
    of.renewed === undefined ? insertOrder(sql, record) : renewOrder(sql, record),
    insertAttempt(sql, { chain: slug, orderId: record.id, attempt, place: of.place ?? 0 }),
  ])
  await keepPositionAttempts(sql, plan, attempt, 'reclaim')
  await relay?.take(sql, attempt, purposeOf(record))
  // A relayed one was changed in the store meanwhile, and a renewed one has older attempts.
  const isAtHand = of.renewed === undefined && relay === null
  const state = isAtHand ? await of.refolds.ofNew(record, attempt) : await of.refolds.of(record.id)
  return { record, state }
}

function purposeOf({ id, request }: OrderRecord): RelayPurpose {
  if (request.kind !== 'close') return { kind: 'open', orderId: id }
  return { kind: 'close', positionIds: request.legs.map(({ positionId }) => positionId) }
}

/**
 * Throws `TOO_MANY_PREPARED_ORDERS` when the agent has as many prepared transactions as it may have, after the expired
 * orders were folded, as `requireSpend` returns them.
 */
export function requireRoom({ waiting }: AgentUse, limit: number): void {
  if (waiting < limit) return
  throw new ApiError(
    'TOO_MANY_PREPARED_ORDERS',
    `This agent has ${limit} prepared orders: broadcast or cancel one, or wait until one expires.`,
    { limit },
  )
}
