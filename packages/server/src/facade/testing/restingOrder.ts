import type { Hex } from '@bezel/protocol'
import type { OrderRequest, OrderState } from '../../trading/orders/orderModel.ts'

// A resting order. Each test changes the field that it is about.

export const HASH = `0x${'cd'.repeat(32)}` as Hex

export const REQUEST: OrderRequest = {
  kind: 'open',
  market: 'BTC/USD' as OrderRequest['market'],
  pairIndex: 0,
  side: 'long',
  type: 'limit',
  size: '0.25' as OrderRequest['size'],
  price: '58000' as OrderRequest['price'],
  leverage: '10' as OrderRequest['leverage'],
  collateral: 'USDC',
  collateralIndex: 3,
  sl: null,
  tp: null,
  reduceOnly: false,
  slippage: '1' as OrderRequest['slippage'],
  clientId: null,
  legs: [],
}

export const STATE: OrderState = {
  status: 'open',
  size: REQUEST.size,
  price: REQUEST.price,
  sl: null,
  tp: null,
  slippage: REQUEST.slippage,
  txHash: HASH,
  expiresAtMs: null,
  fill: null,
  reason: null,
  updatedAtMs: 5_000,
  tradeIndex: 0,
  unanswered: [],
  dueAtMs: null,
  dueBlock: null,
  countedSinceMs: 0,
}
