import {
  ApiError,
  type CollateralAmount,
  type Decimal,
  type Hex,
  type Leverage,
  type MarketSymbol,
  type Price,
  type Usd,
} from '@bezel/protocol'
import type { ChainMarkets, ListedMarket } from '../market/chainMarkets.ts'
import type { AttemptKind, OrderRecord, OrderRequest, OrderState } from '../orders/orderModel.ts'

/** The inputs of the trading rules: the chain's markets as last read, and prices. */
export interface TradingContext {
  readonly chain: ChainMarkets
  /** Throws `NOT_READY` when the price is stale. */
  readonly markOf: (market: ListedMarket) => Price
  readonly isOpen: (market: ListedMarket) => boolean
}

/** The facts that an agent's scope is checked against. `leverage` is `null` when the action can't raise it. */
export interface ScopedAction {
  readonly market: MarketSymbol
  readonly leverage: Leverage | null
  readonly spendUsd: Usd
}

/** The calls of the Diamond that carry out a request, independent of their sender. */
export interface Plan {
  readonly kind: AttemptKind
  /** Calls of the trader, each ABI-encoded; several are sent as one `multicall`. */
  readonly calls: readonly Hex[]
  readonly action: ScopedAction
  /** Kind of validity: `market` prices expire soon, `resting` ones last longer. */
  readonly validity: 'market' | 'resting'
  /** Amount of a token that the Diamond takes from the trader; `null` when it takes nothing. */
  readonly takes: { readonly collateralIndex: number; readonly amount: CollateralAmount } | null
}

/** A plan that makes a new order. */
export interface OrderPlan extends Plan {
  readonly kind: 'open'
  readonly request: OrderRequest
}

/** A plan that changes an order that is on the chain. */
export interface ChangePlan extends Plan {
  readonly kind: 'update' | 'replace' | 'cancel' | 'reclaim'
  /** Terms that the order will have once the transaction is mined. */
  readonly changes: {
    readonly size?: Decimal
    readonly price?: Decimal
    readonly sl?: Decimal | null
    readonly tp?: Decimal | null
    readonly slippage?: Decimal
  }
}

/** An order that exists. */
export interface KnownOrder {
  readonly record: OrderRecord
  readonly state: OrderState
}

/** Returns the refusal of a change that the order's status does not accept. */
export function notModifiable({ record, state }: KnownOrder, rule: string): ApiError {
  const { id } = record
  const { status } = state
  return new ApiError('ORDER_NOT_MODIFIABLE', `Order ${id} is ${status}. ${rule}`, { id, status })
}
