import type { Trade, TradeFees } from './codec.ts'
import type { Ground } from './ground.ts'
import { marketOf } from './market.ts'
import type { Book } from './snapshot.ts'

// The Diamond's formulas, implemented a second time from their specification. Every bigint division truncates toward
// zero, as in Solidity.

const P_10 = 10n ** 10n
const PERCENT = 100n * P_10

/** Scale of a collateral: the factor from its units to 1e18, its units per token, and USD per token (1e8). */
export type Scale = { delta: bigint; precision: bigint; priceUsd: bigint }

/** The collateral of a trade, and the fee multiplier of its trader's day (1e3); 0 when it has none. */
export type Terms = Scale & { tier: bigint }

export function scaleOf(ground: Ground, collateralIndex: number): Scale {
  const { decimals, priceUsd } = ground.collaterals.find(({ index }) => index === collateralIndex)!
  return {
    delta: 10n ** BigInt(18 - decimals),
    precision: 10n ** BigInt(decimals),
    priceUsd: BigInt(priceUsd) * 10n ** 8n,
  }
}

export function sizeOf({ collateralAmount, leverage }: Pick<Trade, 'collateralAmount' | 'leverage'>): bigint {
  return (collateralAmount * BigInt(leverage)) / 1_000n
}

/** Returns the tokens that the Diamond holds for a position or a resting order. */
export function heldFor({ collateralAmount }: Trade, fees: TradeFees): bigint {
  const gone = fees.realizedTradingFeesCollateral + fees.alreadyTransferredNegativePnlCollateral
  return collateralAmount + fees.virtualAvailableCollateralInDiamond - gone
}

/** Returns the realized profit or loss of a position, less the trading fees paid. */
export function realizedOf(fees: TradeFees): bigint {
  return fees.realizedPnlCollateral - fees.realizedTradingFeesCollateral
}

/** Returns the fee of an open, a close or a part of either, with the trader's discount. */
export function tradingFee(pairIndex: number, terms: Terms, size: bigint, isCounterTrade: boolean): bigint {
  const { feeP, minPositionUsd, counterFeeMultiplier } = marketOf(pairIndex)
  const floor = ((minPositionUsd * 10n ** 8n) / terms.priceUsd / terms.delta) * 1_000n
  const basis = size * (isCounterTrade ? counterFeeMultiplier : 1_000n)
  const raw = ((basis > floor ? basis : floor) * feeP) / P_10 / 100n / 1_000n
  return terms.tier === 0n ? raw : (raw * terms.tier) / 1_000n
}

export function liquidationFee(pairIndex: number, collateral: bigint): bigint {
  return (collateral * marketOf(pairIndex).liqFeeP) / PERCENT
}

/**
 * Returns the fee of a refused request and of a leverage update: 24.5 % (the share of governance) of half the minimum
 * fee.
 */
export function minGovFee(pairIndex: number, terms: Terms): bigint {
  return ((tradingFee(pairIndex, terms, 0n, false) / 2n) * 24_500n) / 100_000n
}

/** Returns profit as percent of the collateral (1e10), never below -100 %. */
export function profitP(
  { long, openPrice, leverage }: Pick<Trade, 'long' | 'openPrice' | 'leverage'>,
  price: bigint,
): bigint {
  const move = long ? price - openPrice : openPrice - price
  const p = (move * PERCENT * BigInt(leverage)) / openPrice / 1_000n
  return p < -PERCENT ? -PERCENT : p
}

/** Returns the worth of a position, never below 0. `owed` is closing fee + holding fees - realized. */
export function worthOf(trade: Trade, { delta }: Scale, price: bigint, owed: bigint): bigint {
  const scaled = trade.collateralAmount * delta
  const worth = (scaled + (scaled * profitP(trade, price)) / P_10 / 100n) / delta - owed
  return worth > 0n ? worth : 0n
}

/** Returns the funding or borrowing fee of a position while the accumulator (1e20) grew by `grown`. */
export function holdingFee(trade: Trade, grown: bigint): bigint {
  return (sizeOf(trade) * grown) / trade.openPrice / P_10 / 100n
}

/** Returns the first-generation borrowing fee of a position while the larger accumulator (1e10) grew by `grownP`. */
export function oldBorrowingFee({ collateralAmount, leverage }: Trade, grownP: bigint): bigint {
  return (collateralAmount * BigInt(leverage) * grownP) / 1_000n / P_10 / 100n
}

/** Returns `amount` x `part` / `whole`, rounded up. */
export function partUp(amount: bigint, part: bigint, whole: bigint): bigint {
  return (amount * part + whole - 1n) / whole
}

/** Returns the shift of the price by the skew, 1e10 per percent. */
export function skewImpactP({ pairIndex, oiToken }: Book, isBuy: boolean, tokens: bigint): bigint {
  const { skewDepth } = marketOf(pairIndex)
  if (skewDepth === 0n) return 0n
  const half = (isBuy ? tokens : -tokens) / 2n
  return ((oiToken.oiLongToken - oiToken.oiShortToken + half) * P_10) / skewDepth / 2n
}

export function shifted(price: bigint, impactP: bigint): bigint {
  return price + (price * impactP) / P_10 / 100n
}

/** True when `price` is worse than expected by more than the slippage (1e3 per percent), for a buyer or a seller. */
export function isSlipped(isBuy: boolean, price: bigint, expected: bigint, slippageP: number): boolean {
  const tolerance = (expected * BigInt(slippageP)) / 100n / 1_000n
  return isBuy ? price > expected + tolerance : price < expected - tolerance
}
