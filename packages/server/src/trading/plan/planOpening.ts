import {
  ApiError,
  formatDecimal,
  scaleDecimal,
  TradeType,
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
import { ONE_E3, USD_PRICE_ONE } from '../valuation/scales.ts'
import { refuseIssues } from './bodyTerms.ts'
import { LEVERAGE_DECIMALS, PRICE_DECIMALS, SLIPPAGE_DECIMALS, USD_DECIMALS } from './decimals.ts'
import { encodeOpenTrade } from './encodeCall.ts'
import { collateralAt, requireActive } from './listed.ts'
import type { TradingContext } from './plan.ts'

/** Most that any market takes. */
const SIZE_DECIMALS = 8
const NONE = '0' as Decimal
const MAX_UINT120 = 2n ** 120n - 1n

const TRADE_TYPES: Readonly<Record<OrderType, number>> = {
  market: TradeType.TRADE,
  limit: TradeType.LIMIT,
  stop: TradeType.STOP,
}

/** A trade to be opened, its numbers within the precision of the market. */
export interface OpeningTerms {
  readonly trader: Address
  readonly market: ListedMarket
  readonly collateralIndex: number
  readonly side: Side
  readonly type: OrderType
  readonly size: Decimal
  /** 1e10: the trigger, or the price expected of a market order. */
  readonly price: bigint
  readonly leverage: Decimal
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

export interface Opening {
  readonly call: Hex
  /** Units of the token. */
  readonly collateralAmount: bigint
  /** 1e18. */
  readonly notionalUsd: bigint
  /** 1e3. */
  readonly leverage: bigint
}

/** The `openTrade` of an order. Throws what the market has against its leverage and size, and the chain against its collateral. */
export function planOpening(terms: OpeningTerms, { chain }: TradingContext): Opening {
  const { market, price } = terms
  const collateral = collateralAt(chain, terms.collateralIndex)
  requireActive(collateral, chain)
  const leverage = scaleDecimal(terms.leverage, LEVERAGE_DECIMALS)!
  requireLeverage(leverage, market.minLeverage, market.maxLeverage)
  // A size has at most 8 decimals and a price 10, so their product has at most the 18 of a USD amount: nothing is rounded here.
  const notionalUsd = scaleDecimal(terms.size, SIZE_DECIMALS)! * price
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
      tp: scaleDecimal(terms.tp ?? NONE, PRICE_DECIMALS)!,
      sl: scaleDecimal(terms.sl ?? NONE, PRICE_DECIMALS)!,
    },
    Number(scaleDecimal(terms.slippage, SLIPPAGE_DECIMALS)!),
  )
  return { call, collateralAmount, notionalUsd, leverage }
}

/** notional / leverage / the token's USD price, in units of the token. One division, so it is rounded once: down, never asking for more than was said. */
export function collateralOfNotional(
  notionalUsd: bigint,
  leverage: bigint,
  { precisionDelta, priceUsd }: CollateralState,
): bigint {
  return (notionalUsd * ONE_E3 * USD_PRICE_ONE) / (leverage * priceUsd * precisionDelta)
}

/** Throws `LEVERAGE_OUT_OF_RANGE`; all 1e3. */
export function requireLeverage(leverage: bigint, minLeverage: bigint, maxLeverage: bigint): void {
  if (leverage >= minLeverage && leverage <= maxLeverage) return
  const details = {
    leverage: formatDecimal(leverage, LEVERAGE_DECIMALS),
    minLeverage: formatDecimal(minLeverage, LEVERAGE_DECIMALS),
    maxLeverage: formatDecimal(maxLeverage, LEVERAGE_DECIMALS),
  }
  const message = `A leverage of ${details.leverage} is not between ${details.minLeverage} and ${details.maxLeverage}.`
  throw new ApiError('LEVERAGE_OUT_OF_RANGE', message, details)
}

/** The collateral is compared in units of the token, as the Diamond does, so that rounding never refuses what it would take. */
function requireSize(
  { notionalUsd, collateralAmount }: Pick<Opening, 'notionalUsd' | 'collateralAmount'>,
  market: ListedMarket,
  collateral: CollateralState,
): void {
  const { minCollateralUsd, minPositionUsd } = marketMinimums(market)
  const isEnoughCollateral = collateralAmount >= minCollateral(MIN_FEES_ON_OPEN, market.listing, collateral)
  if (notionalUsd >= minPositionUsd && isEnoughCollateral && collateralAmount > 0n) return
  const details = {
    notionalUsd: formatDecimal(notionalUsd, USD_DECIMALS),
    minPositionUsd: formatDecimal(minPositionUsd, USD_DECIMALS),
    collateralUsd: formatDecimal(usdOfCollateral(collateralAmount, collateral), USD_DECIMALS),
    minCollateralUsd: formatDecimal(minCollateralUsd, USD_DECIMALS),
  }
  const message = `A position of ${details.notionalUsd} USD with ${details.collateralUsd} USD of collateral is too small: at least ${details.minPositionUsd} and ${details.minCollateralUsd}.`
  throw new ApiError('SIZE_BELOW_MINIMUM', message, details)
}
