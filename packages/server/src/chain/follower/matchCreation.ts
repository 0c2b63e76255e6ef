import { scaleDecimal, type OrderId } from '@bezel/protocol'
import { attemptsOf } from '../../store/attemptStore.ts'
import { orderEventsOf } from '../../store/orderEventStore.ts'
import { findOrder, listPreparedOrders } from '../../store/orderStore.ts'
import type { AttemptId, AttemptKind, OrderRequest } from '../../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from './chainBlock.ts'
import type { Creation } from './creation.ts'
import { withoutAttemptId } from './findAttemptOf.ts'
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
  const found = await tx.attempt()
  if (found === undefined) return matchLookalike(tx, creation)
  const { orderId, attempt, isExact } = found
  const order = await findOrder(tx.scope.sql, orderId)
  if (order === undefined || order.record.trader !== creation.trader) return undefined
  if (!isExact && !isSameOrder(order.record.request, creation)) return undefined
  const isFree = await canTake(tx, orderId, order.record.request, attempt.kind)
  return isFree ? { orderId, attemptId: attempt.id } : undefined
}

/** Wallets that re-encode a call drop the bytes behind it. A sender has few prepared orders, so all are compared. */
async function matchLookalike(tx: TransactionScope, creation: Creation): Promise<Match | undefined> {
  const { scope, transaction } = tx
  const prepared = await listPreparedOrders(scope.sql, scope.chain, transaction.from)
  for (const { record } of prepared.toSorted((a, b) => Number(a.record.id) - Number(b.record.id))) {
    if (record.trader !== creation.trader) continue
    const attempts = await attemptsOf(scope.sql, record.id)
    const same = attempts.find(
      ({ kind, calldata }) => kind === 'open' && withoutAttemptId(calldata) === transaction.input,
    )
    if (same !== undefined && (await canTake(tx, record.id, record.request, 'open'))) {
      return { orderId: record.id, attemptId: same.id }
    }
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

export /** Whether a log created what was asked for. */
function isSameOrder(request: OrderRequest, creation: Omit<Creation, 'trader'>): boolean {
  if (request.kind !== creation.kind || request.pairIndex !== creation.pairIndex) return false
  if (request.kind !== 'open') return request.legs.some(({ tradeIndex }) => tradeIndex === creation.tradeIndex)
  const leverage = scaleDecimal(request.leverage, 3)
  return (
    request.type === creation.type &&
    request.side === creation.side &&
    request.collateralIndex === creation.collateralIndex &&
    leverage === BigInt(creation.leverage ?? 0)
  )
}
