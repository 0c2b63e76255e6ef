import type { Hex, OrderId } from '@bezel/protocol'
import { findOrder } from '../../store/orderStore.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'
import type { ActionContext } from './exchangeParts.ts'

type Waiting = Pick<ActionContext, 'parts' | 'deadlineMs'>

/** An order once it is `isDone`; `undefined` when that takes longer than the answer is held. */
export async function settledOrder(
  { parts, deadlineMs }: Waiting,
  id: OrderId,
  isDone: (state: OrderState) => boolean,
): Promise<OrderState | undefined> {
  const { waits, store, now } = parts
  const waiting = waits.wait(id, isDone, deadlineMs - now())
  // It may have happened before anybody waited for it.
  const state = (await findOrder(store.read, id).catch(() => undefined))?.state
  waits.tell(id, state)
  return state !== undefined && isDone(state) ? state : waiting
}

/** Whether a position came to be `isDone`, or was closed, while the answer was held. */
export async function settledPosition(
  { parts, deadlineMs }: Waiting,
  id: OrderId,
  isDone: (state: PositionState) => boolean,
): Promise<boolean> {
  const { waits, orders, now } = parts
  const current = orders.positions.find(id)
  if (current === undefined || isDone(current.state)) return true
  return waits.waitPosition(id, isDone, deadlineMs - now())
}

/** What was waited for, or `failed` when the transaction that was to bring it failed on the chain before. */
export async function unlessFailed<Settled>(
  { parts }: Pick<Waiting, 'parts'>,
  hash: Hex | null,
  settled: Promise<Settled>,
): Promise<Settled | 'failed'> {
  if (hash === null) return settled
  const { promise, resolve } = Promise.withResolvers<'failed'>()
  const stop = parts.relayer.onFailed(hash, () => resolve('failed'))
  try {
    return await Promise.race([settled, promise])
  } finally {
    stop()
  }
}

/** The transaction of an order that brings it to the chain, or the oracle's answer to it, is awaited. */
export function isUnderWay({ status }: Pick<OrderState, 'status'>): boolean {
  return status === 'prepared' || status === 'pending'
}
