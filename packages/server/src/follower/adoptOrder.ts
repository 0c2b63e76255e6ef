import { isSameOrder } from '../chain/isSameOrder.ts'
import { scaleDecimal, type Hex, type OrderId } from '@bezel/protocol'
import type { StoredAttempt } from '../store/attemptStore.ts'
import { moveOrderEvents } from '../store/orderEventStore.ts'
import { findOrder, findOrderByOrigin } from '../store/orderStore.ts'
import { findPositionByOrigin, movePosition } from '../store/positionStore.ts'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { Creation } from '../chain/creation.ts'
import { canTake } from './matchCreation.ts'

/** More than a multicall of the Diamond can create. */
const MAX_CREATED = 20

/**
 * A transaction that was rebuilt on its way and mined before it was reported: its order was taken for one made elsewhere. Now that it is
 * reported, what the chain said of that one is said of the order it was prepared for; the position keeps its id. Whether there was one.
 */
export async function adoptOrder(
  scope: BlockScope,
  { orderId, attempt }: StoredAttempt,
  txHash: Hex,
): Promise<boolean> {
  const ours = await findOrder(scope.sql, orderId)
  if (ours === undefined || attempt.kind !== 'open') return false
  const { request, trader } = ours.record
  let isAdopted = false
  for (let n = 0; n < MAX_CREATED; n += 1) {
    const made = await findOrderByOrigin(scope.sql, scope.chain, `tx:${txHash}:${n}`)
    if (made?.state === undefined || made.record.trader !== trader) continue
    if (!isSameOrder(request, creationOf(made.record.request))) continue
    if (!(await canTake({ scope, transaction: { hash: txHash } }, orderId, request, 'open'))) continue
    if (await take(scope, made.record.id, orderId)) isAdopted = true
  }
  return isAdopted
}

async function take(scope: BlockScope, from: OrderId, to: OrderId): Promise<boolean> {
  const { sql } = scope
  if ((await findPositionByOrigin(sql, to)) !== undefined) return false
  await moveOrderEvents(sql, from, to)
  await movePosition(sql, from, to)
  scope.moved(from, to)
  return true
}

function creationOf({
  kind,
  type,
  pairIndex,
  collateralIndex,
  side,
  leverage,
  legs,
}: OrderRequest): Omit<Creation, 'trader'> {
  return {
    kind,
    type,
    pairIndex,
    collateralIndex,
    side,
    leverage: Number(scaleDecimal(leverage, 3)),
    tradeIndex: legs[0]?.tradeIndex ?? 0,
  }
}
