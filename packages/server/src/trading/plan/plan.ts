import {
  ApiError,
  type Address,
  type BaseSize,
  type CollateralAmount,
  type Decimal,
  type Hex,
  type Leverage,
  type MarketSymbol,
  type Price,
  type Usd,
  type Warning,
} from '@bezel/protocol'
import type { ChainMarkets, ListedMarket } from '../market/chainMarkets.ts'
import type { AttemptKind, OrderRecord, OrderRequest, OrderState } from '../orders/orderModel.ts'
import type { LivePosition } from '../positions/positionModel.ts'
import type { Moment, TraderTerms } from '../valuation/chainState.ts'

/** The inputs of the trading rules: the chain's markets as last read, and prices. */
export interface TradingContext {
  readonly chain: ChainMarkets
  /**
   * Returns the mark for what opens or enlarges a position. Throws `NOT_READY` while the feed is stale, and in a market
   * whose last price is old and has no second witness.
   */
  readonly markOf: (market: ListedMarket) => Price
  /**
   * Returns the last mark, however old, for whatever opens nothing and for the stops of what opens; where a second
   * witness stands in for an old one, its price. Throws `NOT_READY` while the chain lags, and when there never was one.
   */
  readonly lastMarkOf: (market: ListedMarket) => LastMark
  readonly isOpen: (market: ListedMarket) => boolean
  /** Returns the time at which a closed market opens, in epoch ms; `null` when nobody knows. */
  readonly opensAt: (market: ListedMarket) => number | null
  /** The last block of the chain, which may be newer than that of `chain`: recent volume is counted up to its time. */
  readonly moment: Moment
  /** Returns the terms on which a trader trades a market, as last read. */
  readonly termsOf: (trader: Address, market: ListedMarket) => TraderTerms
}

/** A mark with the time at which it was received, in epoch ms. */
export interface LastMark {
  readonly price: Price
  readonly atMs: number
  readonly ageMs: number
}

/** The facts that an agent's scope is checked against. `leverage` is `null` when the action can't raise it. */
export interface ScopedAction {
  readonly market: MarketSymbol
  readonly leverage: Leverage | null
  /** Notional that it opens; for a change of an order, the notional of the whole order after it. */
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
  readonly takes: TakenCollateral | null
  /** Differences between what was asked and what will happen, for the answer. */
  readonly warnings: readonly Warning[]
  /** Positions for which it asks the oracle. Their timed-out changes are reclaimed by its first calls. */
  readonly touches?: readonly LivePosition[]
}

/** An amount of a token that the Diamond takes from the trader. */
export interface TakenCollateral {
  readonly collateralIndex: number
  readonly amount: CollateralAmount
  /** Amount that the same transaction returns first: it need not be in the wallet, but the allowance must cover it. */
  readonly returned?: CollateralAmount
}

/** A plan that makes a new order. */
export interface OrderPlan extends Plan {
  readonly kind: 'open'
  readonly request: OrderRequest
  /** Positions that it closes, in this order; left out for an opening. */
  readonly closes?: readonly ClosedPart[]
}

/** A position, or a part of it, that an order closes. */
export interface ClosedPart {
  readonly position: LivePosition
  readonly size: BaseSize
  /** Collateral of the part; `null` for the whole position. */
  readonly part: CollateralAmount | null
  /** Base of the slippage check. */
  readonly expectedPrice: Price
}

/** A plan that changes a position. */
export interface PositionPlan extends Plan {
  readonly kind: 'update'
  /** Stops that the position will have once the transaction is mined; what needs the oracle's answer is left out. */
  readonly changes: { readonly sl?: Price; readonly tp?: Price }
  /** Leverage that it asks the oracle for; left out when the leverage stays. */
  readonly leverage?: Leverage
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

/** Returns the warnings as a part of an answer, which is empty when there are none. */
export function warningsOf({ warnings }: Pick<Plan, 'warnings'>): { readonly warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] }
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
