import type {
  Position,
  ClosePositionRequest,
  CreateOrderRequest,
  Order,
  PercentP,
  UpdateOrderRequest,
  UpdatePositionRequest,
} from '@bezel/protocol/wire'

/** The facts about a market that the check needs. */
export interface MarketFacts {
  /** Symbol of the market. */
  readonly symbol: string
  /** Index of the pair on the Diamond. */
  readonly pairIndex: number
  /** Places after the point that a size may have. */
  readonly sizePrecision: number
  /** Least collateral of a new position in USD. */
  readonly minCollateralUsd: string
}

/** The facts about a collateral token that the check needs. */
export interface CollateralFacts {
  /** Symbol of the token. */
  readonly symbol: string
  /** Index of the collateral on the Diamond. */
  readonly index: number
  /** Decimals of the token. */
  readonly decimals: number
  /** Price of one token in USD. */
  readonly priceUsd: string
  /** Tolerance of the price in percent, because the service reads it at another moment. */
  readonly priceTolerancePercent: string
}

/** A trade or resting order of the trader on the chain, in the chain's own scales. */
export interface TradeFacts {
  /** Index of the trade among the trader's own. */
  readonly index: number
  /** Index of the pair on the Diamond. */
  readonly pairIndex: number
  /** True for a long. */
  readonly long: boolean
  /** Index of the collateral on the Diamond. */
  readonly collateralIndex: number
  /** Kind of trade: 0 position, 1 limit order, 2 stop order. */
  readonly tradeType: number
  /** Collateral in units of the token's last decimal. */
  readonly collateralAmount: bigint
  /** Leverage, 1e3. */
  readonly leverage: number
  /** Entry price, or the trigger of a resting order, 1e10. */
  readonly openPrice: bigint
  /** Take profit, 1e10; 0 means none. */
  readonly tp: bigint
  /** Stop loss, 1e10; 0 means none. */
  readonly sl: bigint
  /** Closing slippage of a position; 0 means the default of 1 %. */
  readonly maxSlippageP: number
  /** Size in base units, 1e18; `undefined` for trades opened before the chain stored it. */
  readonly size: bigint | undefined
}

/** A request of the trader that waits for the oracle. */
export interface PendingFacts {
  /** Index of the request among the trader's own. */
  readonly index: number
  /** Index of the pair on the Diamond. */
  readonly pairIndex: number
  /** Index of the trade that it closes or changes; a request to open has none yet. */
  readonly tradeIndex: number
  /** Side of a request to open. A request to close takes that of its trade. */
  readonly long: boolean
  /** Kind of the request, as the Diamond numbers it. */
  readonly orderType: number
}

/** The trader's trades and requests on the chain, read through the caller's own node. */
export interface ChainFacts {
  /** Positions and resting orders of the trader. */
  readonly trades: readonly TradeFacts[]
  /** Requests of the trader that wait for the oracle. */
  readonly pending: readonly PendingFacts[]
}

/** The price of a pair on the chain, from the feed that the Diamond itself compares its oracle with. */
export interface ChainPrice {
  /** Price of the pair in the quote currency. */
  readonly price: string
  /** Greatest distance from it in percent that the Diamond accepts. */
  readonly tolerancePercent: string
}

/**
 * The facts that a prepared transaction is checked against. Their sources decide what the check proves:
 *
 * - `diamond`, `chainId`, `trader` and `sender` are the caller's own (pinned, or remembered from the first answer).
 * - `market` and `collateral` come from the service, unless the client's sender can read the chain: then the pair, the
 * token and the token's price are read from the Diamond.
 * - `onChain` needs such a sender. Without it the check can't tell *which* of the trader's trades an index means, and
 * it assumes a closing slippage of 1 % when the transaction sets none.
 * - `expectedPrice` stands for the market: the size of a market order is counted with it, and the price where the
 * request names none. Pass your own if you have one, because the service's mark is no independent witness.
 * - `chainPrice` is that witness, where the Diamond has a feed for the pair and the sender can read it: the service's
 * mark must be near it.
 * - `impactP` needs such a sender too. With it the collateral of an opening is known to 0.1 %; without it only to the
 * order's slippage.
 */
export interface VerifyContext {
  /** Address of the Diamond that is meant. */
  readonly diamond: string
  /** Id of the chain that is meant. */
  readonly chainId: number
  /** Address of the trader that is meant. */
  readonly trader: string
  /** Address that signs and sends: the agent. */
  readonly sender: string
  /** Market of the request. */
  readonly market: MarketFacts
  /** Collateral of the request. */
  readonly collateral: CollateralFacts
  /** Price that the market is expected to have, in the quote currency. */
  readonly expectedPrice?: string | undefined
  /** Price of the pair on the chain; `undefined` where there is none, or where `expectedPrice` is your own. */
  readonly chainPrice?: ChainPrice | undefined
  /**
   * Spread and volume impact of the opening, in percent as the Diamond counts (1e10), signed, from its own views; they
   * lead from the reference price to the price that the Diamond divides by.
   */
  readonly impactP?: PercentP | undefined
  /** Open positions, needed for a reduce-only order. */
  readonly positions?: readonly Position[] | undefined
  /** Trades and requests of the trader, read through the caller's own node. */
  readonly onChain?: ChainFacts | undefined
}

/** A request for a write. Its order or position is the one the caller saw before asking. */
export type WriteRequest =
  | { readonly operation: 'createOrder'; readonly body: CreateOrderRequest }
  | { readonly operation: 'updateOrder'; readonly order: Order; readonly body: UpdateOrderRequest }
  | { readonly operation: 'cancelOrder'; readonly order: Order }
  | { readonly operation: 'closePosition'; readonly position: Position; readonly body: ClosePositionRequest }
  | { readonly operation: 'updatePosition'; readonly position: Position; readonly body: UpdatePositionRequest }
  | { readonly operation: 'cancelPositionUpdate'; readonly position: Position }
