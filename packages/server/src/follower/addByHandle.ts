import type { OrderId } from '@bezel/protocol'
import type { OrderHandle } from '../store/orderEventStore.ts'
import type { ChainPlace, OrderEvent } from '../trading/orders/orderModel.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

type Body<Event> = Event extends unknown ? Omit<Event, keyof ChainPlace | 'attemptId'> : never
/** An order event without its place and attempt. */
export type OrderEventBody = Body<OrderEvent>

/** The order that the chain knows by a handle; `undefined` for what is no order here, such as a leverage update. */
export function orderByHandle(
  { scope }: TransactionScope,
  trader: `0x${string}`,
  handle: OrderHandle,
): Promise<OrderId | undefined> {
  return scope.orderByHandle(traderOf(trader), handle)
}

export async function addOrderEvent(
  tx: TransactionScope,
  of: {
    readonly trader: `0x${string}`
    readonly orderId: OrderId
    readonly logIndex: number
    readonly body: OrderEventBody
    /** Whether a transaction of the trader says it, which may be an attempt; else the oracle's or a bot's does. */
    readonly isByTrader: boolean
  },
): Promise<void> {
  const trader = traderOf(of.trader)
  const attempts = of.isByTrader ? await tx.attemptsOf(trader) : []
  const found = attempts.find(({ orderId }) => orderId === of.orderId)
  await tx.scope.addOrderEvent({
    trader,
    orderId: of.orderId,
    handle: null,
    event: { ...tx.placeOf(of.logIndex), attemptId: found?.attempt.id ?? null, ...of.body },
  })
}
