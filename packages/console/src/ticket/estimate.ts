import {
  BaseSize,
  CollateralAmount,
  CollateralPrice,
  FeeMultiplier,
  Fraction,
  HUNDRED_PERCENT,
  Leverage,
  Price,
  Usd,
  parseDecimal,
  type Decimal,
  type MarketCollateral,
  type MarketRecord,
  type OrderType,
  type Side,
} from '@bezel/protocol/wire'
import type { ChainTerms, LiquidationTerms } from './chainTerms.ts'
import { percentOfFraction, volumeImpactP, type DepthSide } from './depth.ts'

// The numbers of an order before anybody is asked for them, by the formulas of the contracts as far as public data go:
// the skew and the terms of single traders are not public, so the review asks the service for the exact numbers.

/** Everything that the estimate of an order is made of. */
export interface EstimateFacts {
  readonly market: Pick<MarketRecord, 'spreadRate' | 'fees' | 'sizePrecision' | 'minPositionUsd' | 'minCollateralUsd'>
  /** Mark of the market. */
  readonly mark: string
  /** Side of the book that it trades against. */
  readonly depth: DepthSide
  readonly collateral: Pick<MarketCollateral, 'decimals' | 'symbol'>
  /** Facts that only the chain tells; null until they are read. */
  readonly terms: Pick<ChainTerms, 'collateralPriceUsd' | 'liquidation'> | null
  /** Factor of the trader's fee tier; null where there is none. */
  readonly feeTierMultiplier: string | null
}

/** The terms of an order that its estimate depends on, all of them valid. */
export interface EstimatedOrder {
  readonly side: Side
  readonly type: OrderType
  /** Trigger of a limit or stop order. */
  readonly price: string | null
  readonly leverage: string
}

/** Expected outcome of an order. */
export interface OrderEstimate {
  /** Size in base units. */
  readonly size: string
  /** Price of the oracle that is assumed: the mark, or the trigger of an order that rests. */
  readonly oraclePrice: string
  /** Execution price with half of the spread and the volume impact, without the skew. */
  readonly price: string
  /** Half of the spread as a fraction. */
  readonly spreadRate: string
  /** Price impact of size and recent volume as a fraction. */
  readonly volumeImpactRate: string
  /** Collateral in tokens. */
  readonly collateral: string
  readonly notionalUsd: string
  /** Opening fee in tokens of the collateral. */
  readonly feeCollateral: string
  /** Null while the chain was not asked for the thresholds. */
  readonly liquidationPrice: string | null
}

/** Returns true when the mark has reached the trigger of an order, so that it executes at once. */
export function isReached({ side, type, price }: EstimatedOrder, mark: string): boolean {
  if (type === 'market' || price === null) return true
  const [now, trigger] = [scaled(mark, Price), scaled(price, Price)]
  // A limit that buys and a stop that sells wait for a lower price.
  return (type === 'limit') === (side === 'long') ? now <= trigger : now >= trigger
}

/** Estimates an order of a size. */
export function estimateSize(order: EstimatedOrder, size: string, facts: EstimateFacts): OrderEstimate {
  const base = scaled(size, BaseSize)
  const leverage = scaled(order.leverage, Leverage)
  const reference = referenceOf(order, facts)
  // The price depends on the notional and the notional on the price: a few steps settle it.
  let notional = (base * reference) / Price.one
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = (base * priceAt(order, notional, facts)) / Price.one
    const moved = next > notional ? next - notional : notional - next
    notional = next
    if (moved * CollateralPrice.one < tokenOf(facts).unitUsd) break
  }
  const divisor = leverage * tokenOf(facts).unitUsd
  const units = divisor === 0n ? 0n : ceilDiv(notional * Leverage.one * CollateralPrice.one, divisor)
  return estimated(order, { size, units, notional }, facts)
}

/** Bounds the search for the notional, as the service does. */
const MAX_STEPS = 8

/** Returns the greatest size that an amount of collateral buys, rounded down to what the market takes. */
export function sizeOfCollateral(order: EstimatedOrder, amount: string, facts: EstimateFacts): string {
  const { decimals } = facts.collateral
  const value = parseDecimal(amount)
  const units = value === undefined ? 0n : CollateralAmount.parseTruncated(value, decimals)
  const notional = usdOf((units * scaled(order.leverage, Leverage)) / Leverage.one, facts)
  const price = priceAt(order, notional, facts)
  const base = price === 0n ? 0n : (notional * Price.one) / price
  const step = 10n ** BigInt(BaseSize.decimals - facts.market.sizePrecision)
  return BaseSize.format(BaseSize.of((base / step) * step))
}

/** Returns true when an estimated order is smaller than the contracts take. They compare units of the token. */
export function isBelowMinimum({ notionalUsd, collateral }: OrderEstimate, facts: EstimateFacts): boolean {
  const { minPositionUsd, minCollateralUsd } = facts.market
  const value = parseDecimal(collateral)
  const units = value === undefined ? 0n : CollateralAmount.parseTruncated(value, facts.collateral.decimals)
  const least = (scaled(minCollateralUsd, Usd) * CollateralPrice.one) / tokenOf(facts).unitUsd
  return units === 0n || units < least || scaled(notionalUsd, Usd) < scaled(minPositionUsd, Usd)
}

/** Returns the smallest size that the contracts take at this leverage, rounded up to what the market takes. */
export function minimumSize(order: EstimatedOrder, facts: EstimateFacts): string {
  const { minPositionUsd, minCollateralUsd, sizePrecision } = facts.market
  const byCollateral = (scaled(minCollateralUsd, Usd) * scaled(order.leverage, Leverage)) / Leverage.one
  const least = scaled(minPositionUsd, Usd)
  const notional = byCollateral > least ? byCollateral : least
  const price = priceAt(order, notional, facts)
  if (price === 0n) return '0'
  const step = 10n ** BigInt(BaseSize.decimals - sizePrecision)
  const steps = ceilDiv(ceilDiv(notional * Price.one, price), step)
  const size = BaseSize.format(BaseSize.of(steps * step))
  // The impact of a smaller size is smaller, so the first guess may be one step short.
  return isBelowMinimum(estimateSize(order, size, facts), facts)
    ? BaseSize.format(BaseSize.of((steps + 1n) * step))
    : size
}

function estimated(
  order: EstimatedOrder,
  { size, units, notional }: { readonly size: string; readonly units: bigint; readonly notional: bigint },
  facts: EstimateFacts,
): OrderEstimate {
  const leverage = scaled(order.leverage, Leverage)
  const sizeUnits = (units * leverage) / Leverage.one
  const filledUsd = usdOf(sizeUnits, facts)
  const price = priceAt(order, filledUsd, facts)
  const fee = feeUnits(sizeUnits, facts)
  const tier = parseDecimal(facts.feeTierMultiplier ?? '1')
  const opening = tier === undefined ? fee : (fee * FeeMultiplier.parseTruncated(tier)) / FeeMultiplier.one
  const text = (amount: bigint): string =>
    CollateralAmount.format(CollateralAmount.of(amount), facts.collateral.decimals)
  const liquidation = facts.terms?.liquidation
  return {
    size,
    oraclePrice: Price.format(Price.of(referenceOf(order, facts))),
    price: Price.format(Price.of(price)),
    spreadRate: Fraction.format(Fraction.of(halfSpreadP(facts))),
    volumeImpactRate: Fraction.format(Fraction.of(volumeImpactP(facts.depth, filledUsd))),
    collateral: text(units),
    notionalUsd: Usd.format(Usd.of(notional)),
    feeCollateral: text(opening),
    liquidationPrice:
      liquidation === undefined || units === 0n
        ? null
        : liquidationPrice({ side: order.side, price, units, leverage, owed: opening + fee }, liquidation, facts),
  }
}

interface OpenedTrade {
  readonly side: Side
  readonly price: bigint
  readonly units: bigint
  readonly leverage: bigint
  /** Opening fee, and the closing fee without any tier. */
  readonly owed: bigint
}

/** Returns the price at which what is left of the collateral is below the threshold; never below 0. */
function liquidationPrice(trade: OpenedTrade, terms: LiquidationTerms, facts: EstimateFacts): string {
  const { side, price, units, leverage, owed } = trade
  const scale = tokenOf(facts).delta * Leverage.one
  const lossAllowed = (units * thresholdP(terms, leverage) * scale) / HUNDRED_PERCENT
  const distance = (price * (lossAllowed - owed * scale)) / units / leverage / tokenOf(facts).delta
  const spreadP = minOf(halfSpreadP(facts), terms.maxLiqSpreadP)
  const net = distance - (price * spreadP) / HUNDRED_PERCENT
  const found = side === 'long' ? price - net : price + net
  return Price.format(Price.of(found > 0n ? found : 0n))
}

const LEGACY_THRESHOLD_P = (90n * HUNDRED_PERCENT) / 100n

/** Returns the share of the collateral that may be lost: linear between the two leverages. */
function thresholdP(terms: LiquidationTerms, leverage: bigint): bigint {
  const { startLeverage, endLeverage, startThresholdP, endThresholdP } = terms
  if (terms.maxLiqSpreadP === 0n) return LEGACY_THRESHOLD_P
  if (leverage <= startLeverage) return startThresholdP
  if (leverage >= endLeverage) return endThresholdP
  return (
    startThresholdP - ((leverage - startLeverage) * (startThresholdP - endThresholdP)) / (endLeverage - startLeverage)
  )
}

/** Returns the fee of a size before any tier. A size below the floor pays that of the floor. */
function feeUnits(sizeUnits: bigint, facts: EstimateFacts): bigint {
  const { fees } = facts.market
  const floor = (scaled(fees.minPositionSizeUsd, Usd) * CollateralPrice.one) / tokenOf(facts).unitUsd
  const basis = sizeUnits > floor ? sizeUnits : floor
  return (basis * percentOfFraction(fees.openFeeRate)) / HUNDRED_PERCENT
}

/** Returns the price after half of the spread and the impact of a notional; 0 where a sale would use up all depth. */
function priceAt(order: EstimatedOrder, notionalUsd: bigint, facts: EstimateFacts): bigint {
  const reference = referenceOf(order, facts)
  const moveP = halfSpreadP(facts) + volumeImpactP(facts.depth, notionalUsd)
  const price = reference + (reference * (order.side === 'long' ? moveP : -moveP)) / HUNDRED_PERCENT
  return price > 0n ? price : 0n
}

/** Returns the price of the oracle at which the order is expected to execute. */
function referenceOf(order: EstimatedOrder, { mark }: EstimateFacts): bigint {
  return scaled(isReached(order, mark) ? mark : (order.price ?? mark), Price)
}

/** Half of the spread in 1e10 a percent, truncated. */
function halfSpreadP({ market }: EstimateFacts): bigint {
  return percentOfFraction(market.spreadRate) / 2n
}

/** The token: the factor from its units to 18 decimals, and one unit in USD (1e18) times the scale of token prices. */
function tokenOf({ collateral, terms }: EstimateFacts): { readonly delta: bigint; readonly unitUsd: bigint } {
  const delta = 10n ** BigInt(Usd.decimals - collateral.decimals)
  return { delta, unitUsd: delta * scaled(terms?.collateralPriceUsd ?? '1', CollateralPrice) }
}

function usdOf(units: bigint, facts: EstimateFacts): bigint {
  return (units * tokenOf(facts).unitUsd) / CollateralPrice.one
}

function scaled(text: string, scale: { readonly parseTruncated: (value: Decimal) => bigint }): bigint {
  const value = parseDecimal(text)
  return value === undefined ? 0n : scale.parseTruncated(value)
}

function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

function minOf(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
