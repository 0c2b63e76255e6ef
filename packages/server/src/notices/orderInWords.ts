import type { Side } from '@bezel/protocol'
import type { OrderRecord, OrderRequest, OrderState } from '../trading/orders/orderModel.ts'

type Kind = OrderRequest['kind']

const TO_DO: Readonly<Record<Kind, (side: Side, size: string) => string>> = {
  open: (side, size) => `open a ${side} of ${size}`,
  close: (side, size) => `close a ${side} of ${size}`,
  increase: (side, size) => `increase a ${side} by ${size}`,
}

const DONE: Readonly<Record<Kind, (side: Side, size: string) => string>> = {
  open: (side, size) => `Opened a ${side} of ${size}`,
  close: (side, size) => `Closed a ${side} of ${size}`,
  increase: (side, size) => `Increased a ${side} by ${size}`,
}

/** What an order was to do: "market order to open a long of 0.1 BTC/USD on base". */
export function orderInWords(record: OrderRecord, { size }: Pick<OrderState, 'size'>): string {
  const { kind, type, market } = record.request
  return `${type} order to ${TO_DO[kind](positionSideOf(record), size)} ${market} on ${record.chain}`
}

/** What it did: "Opened a long of 0.1 BTC/USD at 60000 on base". */
export function fillInWords(record: OrderRecord, fill: { readonly size: string; readonly price: string }): string {
  const { kind, market } = record.request
  return `${DONE[kind](positionSideOf(record), fill.size)} ${market} at ${fill.price} on ${record.chain}`
}

/** Of the position: a close trades the opposite one. */
export function positionSideOf({ request }: OrderRecord): Side {
  if (request.kind !== 'close') return request.side
  return request.side === 'long' ? 'short' : 'long'
}
