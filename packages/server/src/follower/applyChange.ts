import type { EventOf } from '../chain/events/index.ts'
import { addOrderEvent, orderByHandle } from './addByHandle.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import type { TransactionScope } from './transactionScope.ts'

// What a trader does to an order that is on the chain.

export async function applyUpdated(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'OpenOrderDetailsUpdated'> & PlacedEvent,
): Promise<void> {
  const { user: trader, index, openPrice: price, tp, sl, maxSlippageP: slippageP } = args
  const orderId = await orderByHandle(tx, trader, `trade:${index}`)
  if (orderId === undefined) return
  const body = { kind: 'updated', price, sl, tp, slippageP } as const
  await addOrderEvent(tx, { trader, orderId, logIndex, body, isByTrader: true })
}

export async function applyCanceled(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'OpenLimitCanceled'> & PlacedEvent,
): Promise<void> {
  const { trader, index } = args
  const orderId = await orderByHandle(tx, trader, `trade:${index}`)
  if (orderId === undefined) return
  await addOrderEvent(tx, { trader, orderId, logIndex, body: { kind: 'canceled' }, isByTrader: true })
}

export async function applyReclaimed(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'ChainlinkCallbackTimeout'> & PlacedEvent,
): Promise<void> {
  const { user: trader, index: pendingIndex } = args.pendingOrderId
  const orderId = await orderByHandle(tx, trader, `pending:${pendingIndex}`)
  if (orderId === undefined) return
  await addOrderEvent(tx, { trader, orderId, logIndex, body: { kind: 'reclaimed', pendingIndex }, isByTrader: true })
}
