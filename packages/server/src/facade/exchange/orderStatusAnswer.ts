import type { Decimal, Order } from '@bezel/protocol'
import { szText, type Coin } from '../coins.ts'
import { cloidOf } from '../facadeOrder.ts'
import { nearestPxText, pointed } from '../priceText.ts'
import { ERR, reasonText } from './errStrings.ts'
import type { OrderIds, OrderStatusAnswer } from './exchangeAnswer.ts'

/** What an answer tells of an order. */
export type AnsweredOrder = Pick<Order, 'id' | 'clientId' | 'status' | 'txHash' | 'fill' | 'reason'>

export function orderIds({ id, clientId }: Pick<Order, 'id' | 'clientId'>): OrderIds {
  const cloid = cloidOf(clientId)
  return { oid: Number(id), ...(cloid === null ? {} : { cloid }) }
}

/** An order as the one who placed it is told. What is not decided yet shows as resting, because clients look for its id there. */
export function orderStatusAnswer(coin: Coin, order: AnsweredOrder): OrderStatusAnswer {
  const ids = orderIds(order)
  switch (order.status) {
    case 'open':
      return { resting: ids }
    case 'prepared':
    case 'pending':
    case 'timed_out':
      return { resting: ids, pending: { oid: ids.oid, txHash: order.txHash as never } }
    case 'filled':
      return { filled: { ...filledWords(coin, order), ...ids } }
    case 'rejected':
      return { error: reasonText(order.reason) }
    case 'expired':
      return { error: ERR.late }
    case 'canceled':
      return { error: ERR.dead }
  }
}

function filledWords(coin: Coin, { fill }: AnsweredOrder): { readonly totalSz: string; readonly avgPx: string } {
  if (fill === null) return { totalSz: '0.0', avgPx: '0.0' }
  return {
    totalSz: pointed(szText(coin, fill.size as Decimal)),
    avgPx: nearestPxText(coin, fill.price as Decimal),
  }
}
