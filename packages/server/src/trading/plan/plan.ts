import { ApiError, type Decimal, type Hex, type MarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedMarket } from '../market/chainMarkets.ts'
import type { AttemptKind, OrderRecord, OrderRequest, OrderState } from '../orders/orderModel.ts'

/** What rules of trading look at: the chain's markets as last read, and prices. */
export interface TradingContext {
  readonly chain: ChainMarkets
  /** 1e10. Throws `NOT_READY` when the price is stale. */
  readonly markOf: (market: ListedMarket) => bigint
  readonly isOpen: (market: ListedMarket) => boolean
}

/** What an agent's scope is asked about. `leverage` (1e3) is `null` when the action can't raise it; `spendUsd` is 1e18. */
export interface ScopedAction {
  readonly market: MarketSymbol
  readonly leverage: bigint | null
  readonly spendUsd: bigint
}

/** Which calls of the Diamond do what was asked for, before anything is known about the sender. */
export interface Plan {
  readonly kind: AttemptKind
  /** Calls of the trader, each ABI-encoded; several are one `multicall`. */
  readonly calls: readonly Hex[]
  readonly action: ScopedAction
  /** How long the price in it is good: until the market moves, or longer. */
  readonly validity: 'market' | 'resting'
  /** Of a token that the Diamond takes from the trader, in its units. */
  readonly takes: { readonly collateralIndex: number; readonly amount: bigint } | null
}

/** A plan that makes a new order. */
export interface OrderPlan extends Plan {
  readonly kind: 'open'
  readonly request: OrderRequest
}

/** A plan that changes an order that is on the chain. */
export interface ChangePlan extends Plan {
  readonly kind: 'update' | 'replace' | 'cancel' | 'reclaim'
  /** What the order will be once it is mined. */
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

/** The refusal of a change that an order's status does not accept. */
export function notModifiable({ record, state }: KnownOrder, rule: string): ApiError {
  const { id } = record
  const { status } = state
  return new ApiError('ORDER_NOT_MODIFIABLE', `Order ${id} is ${status}. ${rule}`, { id, status })
}
