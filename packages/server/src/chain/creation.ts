import { Leverage, PendingOrderType, TradeType, type Address, type OrderType, type Side } from '@bezel/protocol'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
import type { EventOf } from './events.ts'

/** The order that a log creates, reduced to the fields that can be compared with an order request. */
export interface Creation {
  readonly kind: OrderRequest['kind']
  readonly trader: Address
  readonly type: OrderType
  readonly pairIndex: number
  readonly collateralIndex: number
  /** Side of the position; `null` for closes and increases, whose logs do not tell it. */
  readonly side: Side | null
  /** Leverage, scaled by 1e3; `null` for closes and increases, whose logs do not tell it. */
  readonly leverage: number | null
  /** Index of the position concerned; for a resting order, its own index. */
  readonly tradeIndex: number
}

const KINDS: ReadonlyMap<number, OrderRequest['kind']> = new Map([
  [PendingOrderType.MARKET_OPEN, 'open'],
  [PendingOrderType.MARKET_CLOSE, 'close'],
  [PendingOrderType.MARKET_PARTIAL_OPEN, 'increase'],
  [PendingOrderType.MARKET_PARTIAL_CLOSE, 'close'],
])

export function sideOf(long: boolean): Side {
  return long ? 'long' : 'short'
}

/**
 * Returns the order that a stored request creates; `undefined` when it creates none, as with a leverage update or a
 * bot's trigger.
 */
export function creationOfRequest({ args }: EventOf<'PendingOrderStored'>): Creation | undefined {
  const { trade, user, orderType } = args.pendingOrder
  const kind = KINDS.get(orderType)
  if (kind === undefined) return undefined
  return {
    kind,
    trader: user as Address,
    type: 'market',
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    side: kind === 'open' ? sideOf(trade.long) : null,
    leverage: kind === 'open' ? trade.leverage : null,
    tradeIndex: trade.index,
  }
}

/** Returns the order that a TradeStored event creates. Expects a resting order (LIMIT or STOP), not a position. */
export function creationOfRestingOrder({ args }: EventOf<'TradeStored'>): Creation {
  const { trade, user } = args
  return {
    kind: 'open',
    trader: user as Address,
    type: trade.tradeType === TradeType.LIMIT ? 'limit' : 'stop',
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    side: sideOf(trade.long),
    leverage: trade.leverage,
    tradeIndex: trade.index,
  }
}

/** Returns true when the order that a log created matches the request. */
export function isSameOrder(request: OrderRequest, creation: Omit<Creation, 'trader'>): boolean {
  if (request.kind !== creation.kind || request.pairIndex !== creation.pairIndex) return false
  if (request.kind !== 'open') return request.legs.some(({ tradeIndex }) => tradeIndex === creation.tradeIndex)
  const leverage = Leverage.parse(request.leverage)
  return (
    request.type === creation.type &&
    request.side === creation.side &&
    request.collateralIndex === creation.collateralIndex &&
    leverage === BigInt(creation.leverage ?? 0)
  )
}
