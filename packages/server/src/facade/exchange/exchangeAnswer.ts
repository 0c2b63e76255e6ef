import type { Hex, MayBeMined, TransactionRequest, Decimal, Order } from '@bezel/protocol'
import type { OrderRecord } from '../../trading/orders/orderModel.ts'
import { szText, type Coin } from '../coins.ts'
import { cloidOf } from '../facadeOrder.ts'
import { nearestPxText, pointed } from '../priceText.ts'
import { ERR, reasonText } from './errStrings.ts'

/** The ids of an order. */
export interface OrderIds {
  readonly oid: number
  readonly cloid?: string
}

/** The outcome of one order of a request. */
export type OrderStatusAnswer =
  /**
   * `pending` is set while the order's transaction, or the oracle's answer to it, is awaited. Clients take the id from
   * `resting`.
   */
  | { readonly resting: OrderIds; readonly pending?: { readonly oid: number; readonly txHash: Hex | null } }
  | { readonly filled: OrderIds & { readonly totalSz: string; readonly avgPx: string } }
  | { readonly error: string }
  | 'waitingForFill'

/** The outcome of one cancel of a request. */
export type CancelStatusAnswer = 'success' | { readonly error: string }

type OkResponse =
  | { readonly type: 'default' }
  | { readonly type: 'order'; readonly data: { readonly statuses: readonly OrderStatusAnswer[] } }
  | { readonly type: 'cancel'; readonly data: { readonly statuses: readonly CancelStatusAnswer[] } }

/**
 * The answer to an envelope that could be read. `delegationTx` is the transaction that the master wallet has to send;
 * `null` when there is none. `mayStillBeMined` names transactions of agents that the action ended; absent when there
 * are none.
 */
export type ExchangeAnswer = (
  { readonly status: 'ok'; readonly response: OkResponse } | { readonly status: 'err'; readonly response: string }
) & { readonly delegationTx?: TransactionRequest | null; readonly mayStillBeMined?: readonly MayBeMined[] }

export const OK_DEFAULT: ExchangeAnswer = { status: 'ok', response: { type: 'default' } }

export function ordersAnswer(statuses: readonly OrderStatusAnswer[]): ExchangeAnswer {
  return { status: 'ok', response: { type: 'order', data: { statuses } } }
}

export function cancelsAnswer(statuses: readonly CancelStatusAnswer[]): ExchangeAnswer {
  return { status: 'ok', response: { type: 'cancel', data: { statuses } } }
}

/** The fields of an order that an answer depends on. */
export type AnsweredOrder = Pick<Order, 'id' | 'clientId' | 'status' | 'txHash' | 'fill' | 'reason'>

export function orderIds({ id, clientId }: Pick<Order, 'id' | 'clientId'>): OrderIds {
  const cloid = cloidOf(clientId)
  return { oid: Number(id), ...(cloid === null ? {} : { cloid }) }
}

export function namesOf({ id, request }: OrderRecord): Pick<AnsweredOrder, 'id' | 'clientId'> {
  return { id, clientId: request.clientId }
}

/**
 * Returns the outcome of an order for the client that placed it. An undecided order shows as resting, because clients
 * look for its id there.
 */
export function orderStatusAnswer(coin: Coin, order: AnsweredOrder): OrderStatusAnswer {
  const ids = orderIds(order)
  switch (order.status) {
    case 'open':
      return { resting: ids }
    case 'prepared':
    case 'pending':
    case 'timed_out':
      return { resting: ids, pending: { oid: ids.oid, txHash: order.txHash as Hex | null } }
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
