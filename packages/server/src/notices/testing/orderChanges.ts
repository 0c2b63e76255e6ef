import type { OrderChange, OrderRecord, OrderState } from '../../trading/orders/orderModel.ts'
import { Usd, type Decimal, type Fill, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { Cause } from '../../journal/accountLog.ts'
import { anOrder, hash, T0 } from '../../trading/orders/testing/orderHistory.ts'

// Changes of orders as a commit passes them on. A test sets only the fields it is about.

/** The time of the commit: one minute after the fill. */
export const NOW_MS = T0 + 60_000

export const CAUSE: Cause = { nowMs: NOW_MS, block: 1_000, isReorg: false }

export const POSITION_ID = '55' as OrderId

export function aFill(changes: Partial<Fill> = {}): Fill {
  const amounts = { price: '60123.5', size: '0.0999', collateral: '600', feeCollateral: '0.6' }
  return { ...amounts, txHash: hash(1), timestamp: T0, positionId: POSITION_ID, ...changes }
}

export function aState(status: OrderStatus, changes: Partial<OrderState> = {}): OrderState {
  return {
    status,
    size: '0.1' as Decimal,
    price: null,
    sl: null,
    tp: null,
    slippage: '1' as Decimal,
    txHash: hash(1),
    expiresAtMs: null,
    fill: status === 'filled' ? aFill() : null,
    reason: null,
    updatedAtMs: T0,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: null,
    dueBlock: null,
    countedSinceMs: T0,
    ...changes,
  }
}

/** Returns the closing order of a keeper. The prefix of its origin key says why it closed. */
export function keeperOrder(kind: 'liq' | 'sl' | 'tp'): OrderRecord {
  const legs = [{ positionId: POSITION_ID, tradeIndex: 0, size: '0.1' as Decimal }]
  const request = { kind: 'close', side: 'short', type: 'stop', reduceOnly: true, legs } as const
  return anOrder(request, { agent: null, originKey: `${kind}:${POSITION_ID}`, spendUsd: Usd.zero })
}

export function aChange(
  record: OrderRecord,
  before: OrderState | undefined,
  after: OrderState | undefined,
): OrderChange {
  return { record, before, after }
}
