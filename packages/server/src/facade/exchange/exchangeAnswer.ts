import type { Hex, TransactionRequest } from '@bezel/protocol'

/** What an order is known by. */
export interface OrderIds {
  readonly oid: number
  readonly cloid?: string
}

/** What became of one order of a request. */
export type OrderStatusAnswer =
  /** `pending`: its transaction, or the oracle's answer to it, is still awaited. Clients take the id from `resting`. */
  | { readonly resting: OrderIds; readonly pending?: { readonly oid: number; readonly txHash: Hex | null } }
  | { readonly filled: OrderIds & { readonly totalSz: string; readonly avgPx: string } }
  | { readonly error: string }
  | 'waitingForFill'

/** What became of one cancel of a request. */
export type CancelStatusAnswer = 'success' | { readonly error: string }

type OkResponse =
  | { readonly type: 'default' }
  | { readonly type: 'order'; readonly data: { readonly statuses: readonly OrderStatusAnswer[] } }
  | { readonly type: 'cancel'; readonly data: { readonly statuses: readonly CancelStatusAnswer[] } }

/** The answer to an envelope that could be read. `delegationTx`: what the master wallet has to send; `null` when nothing. */
export type ExchangeAnswer = (
  { readonly status: 'ok'; readonly response: OkResponse } | { readonly status: 'err'; readonly response: string }
) & { readonly delegationTx?: TransactionRequest | null }

export const OK_DEFAULT: ExchangeAnswer = { status: 'ok', response: { type: 'default' } }

export function ordersAnswer(statuses: readonly OrderStatusAnswer[]): ExchangeAnswer {
  return { status: 'ok', response: { type: 'order', data: { statuses } } }
}

export function cancelsAnswer(statuses: readonly CancelStatusAnswer[]): ExchangeAnswer {
  return { status: 'ok', response: { type: 'cancel', data: { statuses } } }
}
