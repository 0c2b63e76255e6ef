import { isSameOrder, type Creation } from '../chain/creation.ts'
import { Usd, type OrderId } from '@bezel/protocol'
import type { AttemptId, AttemptKind, OrderRecord, OrderRequest } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { ChainTransaction } from '../chain/blocks.ts'
import type { TransactionScope } from './transactionScope.ts'

/** The order of this service that a log created, and the attempt that created it. */
interface Match {
  readonly orderId: OrderId
  readonly attemptId: AttemptId
}

/**
 * Finds the order that a transaction was prepared for: by the attempt id at the end of the calldata; else by the
 * reported hash; else by sender and calldata, oldest first. Of several orders that one transaction carries, and of a
 * reported hash, only the very order that was created counts. `undefined` when the order was made elsewhere.
 */
export async function matchCreation(tx: TransactionScope, creation: Creation): Promise<Match | undefined> {
  const exact = await tx.listExactAttempts()
  for (const { orderId, attempt } of await tx.listAttempts(creation.trader)) {
    const order = await tx.scope.reads.order(orderId)
    if (order?.record.trader !== creation.trader) continue
    const { request } = order.record
    if (exact.length !== 1 && !isSameOrder(request, creation)) continue
    if (await canTake(tx, orderId, request, attempt.kind)) return { orderId, attemptId: attempt.id }
  }
  return exact.length === 0 ? matchLookalike(tx, creation) : undefined
}

/** The agent that a foreign order counts for, and the amount that it counts toward the agent's cap. */
export type Charge = Pick<OrderRecord, 'agent' | 'spendUsd'>

export const UNCOUNTED: Charge = { agent: null, spendUsd: Usd.zero }

/**
 * Returns the charge of a foreign order. An order made elsewhere counts for nobody. But a prepared transaction may
 * still be mined after another transaction has created its order. Such a trade counts like the order, otherwise a cap
 * could be spent as often as there are prepared transactions. Since it is already traded, it counts even above the cap.
 */
export async function readCharge(tx: TransactionScope, creation: Creation): Promise<Charge> {
  const [found] = await tx.listExactAttempts()
  if (found === undefined || creation.kind !== 'open') return UNCOUNTED
  const order = await tx.scope.reads.order(found.orderId)
  if (order?.record.trader !== creation.trader) return UNCOUNTED
  return { agent: found.attempt.sender, spendUsd: order.record.spendUsd }
}

/**
 * Finds the order by sender and calldata without the attempt id, because wallets that re-encode a call drop the bytes
 * behind it. Finds expired orders too: a late transaction revives its order.
 */
async function matchLookalike(tx: TransactionScope, creation: Creation): Promise<Match | undefined> {
  const { scope, transaction } = tx
  const alike = await scope.reads.attemptsByCall(transaction.from, creation.trader, transaction.input)
  for (const { orderId, attempt } of alike) {
    const request = (await scope.reads.order(orderId))?.record.request
    if (request === undefined || !isSameOrder(request, creation)) continue
    if (await canTake(tx, orderId, request, attempt.kind)) return { orderId, attemptId: attempt.id }
  }
  return undefined
}

/**
 * Returns true when a transaction may create an order on the chain. An order is created once, so a second transaction
 * creates another trade; only a replacement creates its order again.
 */
export async function canTake(
  {
    scope,
    transaction,
  }: { readonly scope: Pick<BlockScope, 'reads'>; readonly transaction: Pick<ChainTransaction, 'hash'> },
  orderId: OrderId,
  request: OrderRequest,
  kind: AttemptKind,
): Promise<boolean> {
  const events = await scope.reads.orderEvents(orderId)
  const before = events.filter((event) => event.kind === 'requested' || event.kind === 'placed')
  const isOfThis = ({ txHash }: { readonly txHash: string | null }): boolean => txHash === transaction.hash
  if (kind === 'replace') return !before.some(isOfThis)
  if (kind !== 'open') return false
  return request.kind === 'open' ? before.length === 0 : before.every(isOfThis)
}
