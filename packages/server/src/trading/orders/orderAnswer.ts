import type { Order } from '@bezel/protocol'
import type { OrderRecord, OrderState } from './orderModel.ts'

/** An order as it goes over the wire. */
export function orderAnswer({ id, trader, request, createdAtMs }: OrderRecord, state: OrderState): Order {
  return {
    id,
    trader,
    market: request.market,
    side: request.side,
    type: request.type,
    size: state.size,
    price: state.price,
    leverage: request.leverage,
    collateral: request.collateral,
    sl: state.sl,
    tp: state.tp,
    reduceOnly: request.reduceOnly,
    slippage: state.slippage,
    clientId: request.clientId,
    status: state.status,
    txHash: state.txHash,
    expiresAt: state.expiresAtMs,
    fill: state.fill,
    reason: state.reason,
    createdAt: createdAtMs,
    updatedAt: state.updatedAtMs,
  }
}
