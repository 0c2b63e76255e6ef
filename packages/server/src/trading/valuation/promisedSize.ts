import { BaseSize, CollateralAmount, CollateralPrice, Leverage, Price, Usd, type OrderType } from '@bezel/protocol'
import type { CollateralState, Market, Moment, Trade } from './chainState.ts'
import { positionSizeCollateral, usdOfCollateral } from './collateralAmounts.ts'
import { openPriceBeforeSkew } from './priceImpact.ts'

// The size of an order is a promise. The Diamond knows no sizes: it takes collateral and divides collateral x leverage
// by its price after spread and volume impact, before skew. These functions find the collateral that buys a given size.

/** The market facts that decide what a size costs. */
export type SizingMarket = Pick<Market, 'listing' | 'volume' | 'terms' | 'collateral'>

/** A trade to be opened at a given price of the oracle. */
interface PromisedTrade {
  readonly long: boolean
  readonly size: BaseSize
  /** The oracle's price at which the trade is expected to execute (`referencePrice`). */
  readonly reference: Price
}

/** Bounds the search for the notional. Each step shrinks the error by about the impact, so three are usual. */
const MAX_STEPS = 8

/**
 * Returns the price at which an order is expected to execute: the mark for a market order, the trigger for a resting
 * one. A trigger that the mark has already passed executes at the mark, which for a limit is the better of the two.
 */
export function referencePrice(type: OrderType, long: boolean, mark: Price, trigger: Price): Price {
  return type === 'market' || isTriggerReached(type, long, mark, trigger) ? mark : trigger
}

/** True when a price has reached a trigger: a limit that buys and a stop that sells wait for a lower price. */
export function isTriggerReached(type: OrderType, long: boolean, price: Price, trigger: Price): boolean {
  return (type === 'limit') === long ? price <= trigger : price >= trigger
}

/**
 * Returns the notional of a size: size x the price before skew, where that price is the one of this very notional. It
 * is the fixed point reached from size x reference, up to less than one unit of the collateral's token. Throws a
 * `PriceOutOfRangeError` where the Diamond reverts.
 */
export function promisedNotional({ long, size, reference }: PromisedTrade, market: SizingMarket, moment: Moment): Usd {
  let notional = usdOfSize(size, reference)
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = usdOfSize(size, openPriceBeforeSkew(long, notional, reference, market, moment).price)
    const moved = next > notional ? next - notional : notional - next
    notional = next
    if (isBelowOneUnit(moved, market.collateral)) break
  }
  return notional
}

/** Returns size x price, truncated. Exact for the sizes that orders may name, which have at most 8 decimals. */
function usdOfSize(size: BaseSize, price: Price): Usd {
  return Usd.of((size * price) / Price.one)
}

function isBelowOneUnit(usd: bigint, { precisionDelta, priceUsd }: CollateralState): boolean {
  return usd * CollateralPrice.one < precisionDelta * priceUsd
}

/**
 * Returns notional / leverage / the token's USD price in units of the token. One division rounds only once, upwards, so
 * that the collateral never buys less than the promised size.
 */
export function collateralOfNotional(
  notionalUsd: Usd,
  leverage: Leverage,
  { precisionDelta, priceUsd }: CollateralState,
): CollateralAmount {
  const dividend = notionalUsd * Leverage.one * CollateralPrice.one
  const divisor = leverage * priceUsd * precisionDelta
  return CollateralAmount.of((dividend + divisor - 1n) / divisor)
}

/**
 * Returns the size that the collateral of a trade buys at a price of the oracle, truncated. Throws a
 * `PriceOutOfRangeError` where the Diamond reverts.
 */
export function sizeBought(
  trade: Pick<Trade, 'long' | 'collateralAmount' | 'leverage'>,
  reference: Price,
  market: SizingMarket,
  moment: Moment,
): BaseSize {
  const notionalUsd = usdOfCollateral(positionSizeCollateral(trade), market.collateral)
  const { price } = openPriceBeforeSkew(trade.long, notionalUsd, reference, market, moment)
  return BaseSize.of((notionalUsd * Price.one) / price)
}
