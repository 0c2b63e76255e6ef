import {
  OrderSubmitReportError,
  type ClosePositionRequest,
  type Order,
  type SentPositionUpdate,
  type TrackedOrder,
  type UpdateOrderRequest,
  type UpdatePositionRequest,
} from '@bezel/sdk'
import { noteSent } from '../data/account.ts'
import { serverNow } from '../data/now.ts'
import { problemOf } from '../ground/problem.ts'
import { runAction } from '../session/act.ts'
import { pushToast } from '../ui/toasts.ts'

/** Names of actions, by which their buttons find out whether they run and what went wrong. */
export const actionName = {
  close: (positionId: string) => `close-${positionId}`,
  update: (positionId: string) => `update-${positionId}`,
  reclaimUpdate: (positionId: string) => `reclaim-update-${positionId}`,
  changeOrder: (orderId: string) => `change-order-${orderId}`,
  cancelOrder: (orderId: string) => `cancel-order-${orderId}`,
} as const

/** Closes a position, or a part of it. Returns true once it was sent; its fill is told by the account's log. */
export async function closePosition(positionId: string, request: ClosePositionRequest): Promise<boolean> {
  const sent = await runAction(actionName.close(positionId), (client) =>
    sentOf(client.positions.close(positionId, request)),
  )
  if (sent === undefined) return false
  tellOrder(sent, 'Close sent')
  return true
}

/** Changes stops, leverage or collateral of a position. Returns true once it was sent; its outcome is told later. */
export async function updatePosition(positionId: string, request: UpdatePositionRequest): Promise<boolean> {
  const sent = await runAction(actionName.update(positionId), (client) => client.positions.update(positionId, request))
  if (sent === undefined) return false
  const key = `position-${positionId}`
  pushToast({ tone: 'info', key, title: 'Change sent', body: 'It takes effect when the chain has it.' })
  void tellOutcome(sent, key)
  return true
}

async function tellOutcome(sent: Pick<SentPositionUpdate, 'wait'>, key: string): Promise<void> {
  try {
    await sent.wait()
    pushToast({ tone: 'good', key, title: 'Position changed' })
  } catch (error) {
    const { title, message, remedy } = problemOf(error)
    const body = remedy === null ? message : `${message} ${remedy}`
    pushToast({ tone: 'warn', key, title, body, link: { to: '/portfolio', label: 'Positions' } })
  }
}

/** Reclaims a change of a position that the oracle has not answered in time. */
export async function reclaimUpdate(positionId: string): Promise<void> {
  const sent = await runAction(actionName.reclaimUpdate(positionId), (client) =>
    client.positions.cancelUpdate(positionId),
  )
  if (sent === undefined) return
  const key = `position-${positionId}`
  pushToast({ tone: 'info', key, title: 'Reclaim sent', body: 'What the change took is on its way to the wallet.' })
}

/** Cancels an order that rests, reclaims one that timed out, or withdraws one that was not sent. */
export async function cancelOrder({ id, status }: Pick<Order, 'id' | 'status'>): Promise<void> {
  const sent = await runAction(actionName.cancelOrder(id), (client) => sentOf(client.orders.cancel(id)))
  if (sent !== undefined) tellOrder(id, status === 'timed_out' ? 'Reclaim sent' : 'Cancellation sent')
}

/** Changes price, size or stops of a resting order. Returns true once it was sent. */
export async function updateOrder(orderId: string, changes: UpdateOrderRequest): Promise<boolean> {
  const sent = await runAction(actionName.changeOrder(orderId), (client) =>
    sentOf(client.orders.update(orderId, changes)),
  )
  if (sent !== undefined) tellOrder(orderId, 'Change sent')
  return sent !== undefined
}

function tellOrder(orderId: string, title: string): void {
  const link = { to: `/portfolio?order=${orderId}`, label: 'Timeline' }
  pushToast({ tone: 'info', key: `order-${orderId}`, title, body: `Order ${orderId}`, link })
}

/**
 * Returns the id of the order that a write sent. A transaction that was sent but not reported is as good as reported,
 * because the service watches the chain; a wallet is not asked for one more signature for it.
 */
async function sentOf(write: Promise<TrackedOrder>): Promise<string> {
  try {
    return (await write).id
  } catch (error) {
    if (!(error instanceof OrderSubmitReportError)) throw error
    const { orderId, txHash } = error
    noteSent(orderId, { atMs: serverNow(), txHash })
    return orderId
  }
}
