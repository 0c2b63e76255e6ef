import {
  CollateralAmount,
  ApiError,
  CollateralPrice,
  Leverage,
  OrderSize,
  Price,
  Slippage,
  TradeType,
  Usd,
  type Address,
  type Decimal,
  type Hex,
  type OrderType,
  type Side,
} from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import { marketMinimums } from '../market/marketRecord.ts'
import { usdOfCollateral } from '../valuation/collateralAmounts.ts'
import type { CollateralState } from '../valuation/chainState.ts'
import { minCollateral, MIN_FEES_ON_OPEN } from '../valuation/fees.ts'
import { refuseIssues } from './bodyTerms.ts'
import { encodeOpenTrade } from './encodeCall.ts'
import { collateralAt, requireActive } from './listed.ts'
import type { TradingContext } from './plan.ts'
const NONE = '0' as Decimal
const MAX_UINT120 = 2n ** 120n - 1n

const TRADE_TYPES: Readonly<Record<OrderType, number>> = {
  market: TradeType.TRADE,
  limit: TradeType.LIMIT,
  stop: TradeType.STOP,
}

/** A trade to open. Its numbers are within the precision of the market. */
export interface OpeningTerms {
  readonly trader: Address
  readonly market: ListedMarket
  readonly collateralIndex: number
  readonly side: Side
  readonly type: OrderType
  readonly size: Decimal
  /** Trigger price, or expected price of a market order. */
  readonly price: Price
  readonly leverage: Decimal
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

export interface Opening {
  readonly call: Hex
  readonly collateralAmount: CollateralAmount
  readonly notionalUsd: Usd
  readonly leverage: Leverage
}

/**
 * Plans the `openTrade` call of an order. Throws when the market refuses its leverage or size, or the chain its
 * collateral.
 */
export function planOpening(terms: OpeningTerms, { chain }: TradingContext): Opening {
  const { market, price } = terms
  const collateral = collateralAt(chain, terms.collateralIndex)
  requireActive(collateral, chain)
  const leverage = Leverage.parse(terms.leverage)!
  requireLeverage(leverage, market.minLeverage, market.maxLeverage)
  // Exact: a size has at most 8 decimals and a price 10, so their product has at most the 18 of a USD amount.
  const notionalUsd = Usd.of(OrderSize.parse(terms.size)! * price)
  const collateralAmount = collateralOfNotional(notionalUsd, leverage, collateral.state)
  requireSize({ notionalUsd, collateralAmount }, market, collateral.state)
  if (collateralAmount > MAX_UINT120) refuseIssues([{ path: 'body.size', message: 'is more than the contracts hold' }])
  const call = encodeOpenTrade(
    {
      user: terms.trader,
      pairIndex: market.pairIndex,
      leverage: Number(leverage),
      long: terms.side === 'long',
      collateralIndex: terms.collateralIndex,
      tradeType: TRADE_TYPES[terms.type],
      collateralAmount,
      openPrice: price,
      tp: Price.parse(terms.tp ?? NONE)!,
      sl: Price.parse(terms.sl ?? NONE)!,
    },
    Number(Slippage.parse(terms.slippage)!),
  )
  return { call, collateralAmount, notionalUsd, leverage }
}

/**
 * Returns notional / leverage / the token's USD price, in units of the token. One division rounds only once, downwards,
 * so that it never takes more than was requested.
 */
function collateralOfNotional(
  notionalUsd: Usd,
  leverage: Leverage,
  { precisionDelta, priceUsd }: CollateralState,
): CollateralAmount {
  return CollateralAmount.of(
    (notionalUsd * Leverage.one * CollateralPrice.one) / (leverage * priceUsd * precisionDelta),
  )
}

/** Throws `LEVERAGE_OUT_OF_RANGE`. */
export function requireLeverage(leverage: Leverage, minLeverage: Leverage, maxLeverage: Leverage): void {
  if (leverage >= minLeverage && leverage <= maxLeverage) return
  const details = {
    leverage: Leverage.format(leverage),
    minLeverage: Leverage.format(minLeverage),
    maxLeverage: Leverage.format(maxLeverage),
  }
  const message = `A leverage of ${details.leverage} is not between ${details.minLeverage} and ${details.maxLeverage}.`
  throw new ApiError('LEVERAGE_OUT_OF_RANGE', message, details)
}

/**
 * Throws `SIZE_BELOW_MINIMUM`. Compares the collateral in units of the token, as the Diamond does, so that rounding
 * never refuses what the Diamond would accept.
 */
function requireSize(
  { notionalUsd, collateralAmount }: Pick<Opening, 'notionalUsd' | 'collateralAmount'>,
  market: ListedMarket,
  collateral: CollateralState,
): void {
  const { minCollateralUsd, minPositionUsd } = marketMinimums(market)
  const isEnoughCollateral = collateralAmount >= minCollateral(MIN_FEES_ON_OPEN, market.listing, collateral)
  if (notionalUsd >= minPositionUsd && isEnoughCollateral && collateralAmount > 0n) return
  const details = {
    notionalUsd: Usd.format(notionalUsd),
    minPositionUsd: Usd.format(minPositionUsd),
    collateralUsd: Usd.format(usdOfCollateral(collateralAmount, collateral)),
    minCollateralUsd: Usd.format(minCollateralUsd),
  }
  const message = `A position of ${details.notionalUsd} USD with ${details.collateralUsd} USD of collateral is too small: at least ${details.minPositionUsd} and ${details.minCollateralUsd}.`
  throw new ApiError('SIZE_BELOW_MINIMUM', message, details)
}
