import type { Position } from '@bezel/protocol/wire'

/** What a market is, as the check needs it. */
export interface MarketFacts {
  readonly symbol: string
  readonly pairIndex: number
  readonly sizePrecision: number
  /** The least collateral of a new position, USD. */
  readonly minCollateralUsd: string
}

/** What a collateral token is, as the check needs it. */
export interface CollateralFacts {
  readonly symbol: string
  readonly index: number
  readonly decimals: number
  readonly priceUsd: string
  /** Percent: how far the service's reading of that price may be from this one, because both are of different moments. */
  readonly priceTolerancePercent: string
}

/** A trade or resting order of the trader as the chain has it. Scales are the chain's. */
export interface TradeFacts {
  readonly index: number
  readonly pairIndex: number
  readonly long: boolean
  readonly collateralIndex: number
  /** 0 position, 1 limit, 2 stop. */
  readonly tradeType: number
  readonly collateralAmount: bigint
  readonly leverage: number
  readonly openPrice: bigint
  readonly tp: bigint
  readonly sl: bigint
  /** Of a position: for its closing; 0 is the default of 1 %. */
  readonly maxSlippageP: number
  /** Base units, 1e18; `undefined` for trades from before the chain counted them. */
  readonly size: bigint | undefined
}

/** A request of the trader that waits for the oracle. */
export interface PendingFacts {
  readonly index: number
  readonly pairIndex: number
  /** Of the trade that it closes; a request to open has none yet. */
  readonly tradeIndex: number
  /** Of a request to open; one to close leaves it to its trade. */
  readonly long: boolean
  readonly orderType: number
}

/** What the trader has on the chain, read through a node of the caller's. */
export interface ChainFacts {
  readonly trades: readonly TradeFacts[]
  readonly pending: readonly PendingFacts[]
}

/**
 * What a prepared transaction is checked against. Where each fact comes from decides what the check proves:
 *
 * - `diamond`, `chainId`, `trader` and `sender` are the caller's own (pinned, or remembered from the first look).
 * - `market` and `collateral` are the service's unless the client's sender can read the chain: then pair, token and the token's price
 *   are read from the Diamond itself.
 * - `onChain` is there only with such a sender. Without it, *which* of the trader's trades an index means can't be checked, and a
 *   closing slippage of 1 % is taken for granted when the transaction sets none.
 * - `expectedPrice` stands for the market where the request names no price. Give your own, if you have one: the service's mark is no
 *   independent witness.
 */
export interface VerifyContext {
  readonly diamond: string
  readonly chainId: number
  readonly trader: string
  /** Who signs and sends: the agent. */
  readonly sender: string
  readonly market: MarketFacts
  readonly collateral: CollateralFacts
  readonly expectedPrice?: string | undefined
  /** Open positions, for a reduce-only order. */
  readonly positions?: readonly Position[] | undefined
  readonly onChain?: ChainFacts | undefined
}
