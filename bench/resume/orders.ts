import type { OrderChange, OrderRecord, OrderState } from '../../packages/server/src/trading/orders/orderModel.ts'
import {
  parseMarketSymbol,
  Usd,
  type Address,
  type Decimal,
  type Hex,
  type OrderId,
  type OrderStatus,
} from '@bezel/protocol'

const CHAIN = 'arbitrum-sepolia'

const HASH = `0x${'ab'.repeat(32)}` as Hex

const decimal = (text: string): Decimal => text as Decimal

/**
 * States of an order from prepared to filled. The log has five events for these four, because the fill is an event of
 * its own.
 */
const LIFE: readonly OrderStatus[] = ['prepared', 'pending', 'open', 'filled']

export const EVENTS_PER_ORDER = 5

/** Returns all changes of one order, oldest first. */
export function lifeOf(trader: Address, n: number): OrderChange[] {
  const record = recordOf(trader, n)
  const states = LIFE.map((status, at) => stateOf(record, status, at))
  return states.map((after, at) => ({ record, before: states[at - 1], after }))
}

function recordOf(trader: Address, n: number): OrderRecord {
  return {
    id: String(n + 1) as OrderId,
    chain: CHAIN,
    trader,
    agent: trader,
    createdAtMs: 1_700_000_000_000,
    originKey: null,
    spendUsd: Usd.zero,
    request: {
      kind: 'open',
      market: parseMarketSymbol('BTC/USD')!,
      pairIndex: 0,
      side: 'long',
      type: 'limit',
      size: decimal('0.1'),
      price: decimal('60000'),
      leverage: decimal('10'),
      collateral: 'USDC',
      collateralIndex: 3,
      sl: null,
      tp: null,
      reduceOnly: false,
      slippage: decimal('1'),
      clientId: `order-${n}`,
      legs: [],
    },
  }
}

function stateOf({ request }: OrderRecord, status: OrderStatus, at: number): OrderState {
  const { size, price, sl, tp, slippage } = request
  const timestamp = 1_700_000_000_000 + at
  const paid = { collateral: decimal('600'), feeCollateral: decimal('0.36'), txHash: HASH, timestamp }
  return {
    status,
    size,
    price,
    sl,
    tp,
    slippage,
    txHash: status === 'prepared' ? null : HASH,
    expiresAtMs: status === 'prepared' ? timestamp : null,
    fill: status === 'filled' ? { price: decimal('60000'), size, ...paid, positionId: '7' as OrderId } : null,
    reason: null,
    updatedAtMs: timestamp,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: null,
    dueBlock: null,
    countedSinceMs: timestamp,
  }
}
