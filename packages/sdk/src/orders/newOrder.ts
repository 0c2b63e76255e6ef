import type { CreateOrderRequest } from '@bezel/protocol/wire'

/** The fields of every order to prepare. */
type Terms = Omit<CreateOrderRequest, 'type' | 'price' | 'reduceOnly'>

/** A market order to prepare: it executes at once, at the mark with spread and price impact. */
export interface NewMarketOrder extends Terms, Pick<CreateOrderRequest, 'price' | 'reduceOnly'> {
  /** Kind of the order. */
  readonly type: 'market'
}

/** An order to prepare that rests on the chain until the price reaches its own. */
export interface NewRestingOrder extends Terms {
  /**
   * Kind of the order. A `limit` buys at or below its price and sells at or above, a `stop` buys at or above and sells
   * at or below.
   */
  readonly type: 'limit' | 'stop'
  /** Price that triggers it, in the quote currency, with at most the market's `pricePrecision` decimals. */
  readonly price: string
  /** Only a market order can be reduce-only. To close at a price, set `sl` or `tp` of the position. */
  readonly reduceOnly?: false
}

/**
 * An order to prepare, by its `type`. A literal that is kept in a variable needs this type, or `as const`: without it
 * `type` is any text, and the compiler says that the `price` of a resting order is missing.
 */
export type NewOrder = NewMarketOrder | NewRestingOrder
