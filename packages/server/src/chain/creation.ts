import type { Address, OrderType, Side } from '@bezel/protocol'
import { PendingOrderType, TradeType } from '@bezel/protocol'
import type { OrderRequest } from '../trading/orders/orderModel.ts'
import type { EventOf } from './events/index.ts'

/** The order that a log creates, as far as it can be compared with one that was asked for. */
export interface Creation {
  readonly kind: OrderRequest['kind']
  readonly trader: Address
  readonly type: OrderType
  readonly pairIndex: number
  readonly collateralIndex: number
  /** Of the position; `null` where the log does not tell: of closes and increases. */
  readonly side: Side | null
  /** 1e3. `null` where the log does not tell. */
  readonly leverage: number | null
  /** Of the position that it is about; of a resting order its own. */
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

/** `undefined`: a request that makes no order, such as a leverage update or a bot's trigger. */
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

/** Of a TradeStored that is no position. */
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
