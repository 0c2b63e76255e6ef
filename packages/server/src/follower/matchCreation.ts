import { isSameOrder } from '../chain/isSameOrder.ts'
import { type OrderId } from '@bezel/protocol'
import { listAttemptsByCall } from '../store/attemptStore.ts'
import { orderEventsOf } from '../store/orderEventStore.ts'
import { findOrder } from '../store/orderStore.ts'
import type { AttemptId, AttemptKind, OrderRecord, OrderRequest } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/chainBlock.ts'
import type { Creation } from '../chain/creation.ts'
import type { TransactionScope } from './transactionScope.ts'

/** The order of ours that a log created, and by which attempt. */
export interface Match {
  readonly orderId: OrderId
  readonly attemptId: AttemptId
}

/**
 * Finds the order that a transaction was prepared for: by the attempt's id behind the calldata; else by the hash that was reported, if the
 * transaction created that very order; else by sender and calldata, oldest first. `undefined`: made elsewhere.
 */
export async function matchCreation(tx: TransactionScope, creation: Creation): Promise<Match | undefined> {
  const exact = await tx.exactAttempt()
  for (const { orderId, attempt } of await tx.attemptsOf(creation.trader)) {
    const order = await findOrder(tx.scope.sql, orderId)
    if (order?.record.trader !== creation.trader) continue
    const { request } = order.record
    if (exact === undefined && !isSameOrder(request, creation)) continue
    if (await canTake(tx, orderId, request, attempt.kind)) return { orderId, attemptId: attempt.id }
  }
  return exact === undefined ? matchLookalike(tx, creation) : undefined
}

/** Whom an order counts for that none of ours is, and how much. */
export type Charge = Pick<OrderRecord, 'agent' | 'spendUsd'>

export const UNCOUNTED: Charge = { agent: null, spendUsd: 0n }

/**
 * What was made elsewhere counts for nobody. But a transaction prepared here may be mined though its order has come to the chain by another one:
 * such a trade counts like the order, or a cap could be spent as often as there are prepared transactions. It is traded already, so it counts
 * also above the cap.
 */
export async function chargeOf(tx: TransactionScope, creation: Creation): Promise<Charge> {
  const found = await tx.exactAttempt()
  if (found === undefined || creation.kind !== 'open') return UNCOUNTED
  const order = await findOrder(tx.scope.sql, found.orderId)
  if (order?.record.trader !== creation.trader) return UNCOUNTED
  return { agent: found.attempt.sender, spendUsd: order.record.spendUsd }
}

/** Wallets that re-encode a call drop the bytes behind it. One that is late revives its order. */
async function matchLookalike(tx: TransactionScope, { trader }: Creation): Promise<Match | undefined> {
  const { scope, transaction } = tx
  const of = { sender: transaction.from, trader, call: transaction.input }
  for (const { orderId, attempt } of await listAttemptsByCall(scope.sql, scope.chain, of)) {
    const order = await findOrder(scope.sql, orderId)
    const isFree = order !== undefined && (await canTake(tx, orderId, order.record.request, attempt.kind))
    if (isFree) return { orderId, attemptId: attempt.id }
  }
  return undefined
}

/** Whether a transaction may bring an order to the chain: that is done once, so what a second one makes is another trade. Only a replacement comes again. */
export async function canTake(
  {
    scope,
    transaction,
  }: { readonly scope: Pick<BlockScope, 'sql'>; readonly transaction: Pick<ChainTransaction, 'hash'> },
  orderId: OrderId,
  request: OrderRequest,
  kind: AttemptKind,
): Promise<boolean> {
  const events = await orderEventsOf(scope.sql, orderId)
  const before = events.filter((event) => event.kind === 'requested' || event.kind === 'placed')
  const isOfThis = ({ txHash }: { readonly txHash: string }): boolean => txHash === transaction.hash
  if (kind === 'replace') return !before.some(isOfThis)
  if (kind !== 'open') return false
  return request.kind === 'open' ? before.length === 0 : before.every(isOfThis)
}
