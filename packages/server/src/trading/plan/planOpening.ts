import {
  ApiError,
  BaseSize,
  Leverage,
  Price,
  Slippage,
  TradeType,
  Usd,
  type Address,
  type CollateralAmount,
  type Decimal,
  type Hex,
  type OrderType,
  type Side,
} from '@bezel/protocol'
import { volumeOf, type ListedMarket } from '../market/chainMarkets.ts'
import { marketMinimums } from '../market/marketRecord.ts'
import type { CollateralState, Moment } from '../valuation/chainState.ts'
import { usdOfCollateral } from '../valuation/collateralAmounts.ts'
import { minCollateral, MIN_FEES_ON_OPEN } from '../valuation/fees.ts'
import { PriceOutOfRangeError } from '../valuation/priceImpact.ts'
import {
  collateralOfNotional,
  promisedNotional,
  referencePrice,
  sizeBought,
  type SizingMarket,
} from '../valuation/promisedSize.ts'
import { refuseIssues } from './bodyTerms.ts'
import { sizeUnit } from './closing.ts'
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
  /** Trigger price, or expected price of a market order, which has no part in what the size costs. */
  readonly price: Price
  readonly leverage: Decimal
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

export interface Opening {
  readonly call: Hex
  readonly collateralAmount: CollateralAmount
  /** Size x the price before skew at which the order is expected to execute. */
  readonly notionalUsd: Usd
  readonly leverage: Leverage
}

/**
 * Plans the `openTrade` call of an order. Throws when the market refuses its leverage or size, or the chain its
 * collateral.
 */
export function planOpening(terms: OpeningTerms, context: TradingContext): Opening {
  const { market, price } = terms
  const collateral = collateralAt(context.chain, terms.collateralIndex)
  requireActive(collateral, context.chain)
  const leverage = Leverage.parse(terms.leverage)!
  requireLeverage(leverage, market.minLeverage, market.maxLeverage)
  const notionalUsd = notionalOf(terms, context)
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

/** The terms that decide what a size costs. */
type SizedTerms = Pick<OpeningTerms, 'trader' | 'market' | 'collateralIndex' | 'side' | 'type' | 'size' | 'price'>

/** Returns the notional of an order's size. */
function notionalOf(terms: SizedTerms, context: TradingContext): Usd {
  const { long, reference, market, moment } = sizingOf(terms, context)
  const size = BaseSize.parse(terms.size)!
  return refuseUnpriced(() => promisedNotional({ long, size, reference }, market, moment))
}

/**
 * True when the collateral that a resting order already holds buys its size on new terms, to within half a step of the
 * market's sizes. It is measured against the size that was asked for, so that many small changes never add up.
 */
export function holdsEnough(
  terms: SizedTerms & Pick<OpeningTerms, 'leverage'>,
  held: CollateralAmount,
  context: TradingContext,
): boolean {
  const { long, reference, market, moment } = sizingOf(terms, context)
  const leverage = Number(Leverage.parse(terms.leverage)!)
  const trade = { long, collateralAmount: held, leverage }
  const bought = refuseUnpriced(() => sizeBought(trade, reference, market, moment))
  const difference = bought - BaseSize.parse(terms.size)!
  return 2n * (difference < 0n ? -difference : difference) <= sizeUnit(terms.market.sizePrecision)
}

/** The facts that decide the price at which an order is expected to execute. */
export interface Sizing {
  readonly long: boolean
  readonly reference: Price
  readonly market: SizingMarket
  readonly moment: Moment
}

/** Collects what decides the price before skew at which an order is expected to execute. */
export function sizingOf(
  { trader, market, collateralIndex, side, type, price }: SizedTerms,
  context: TradingContext,
): Sizing {
  const { chain, markOf, termsOf, moment } = context
  const long = side === 'long'
  return {
    long,
    reference: referencePrice(type, long, markOf(market), price),
    market: {
      listing: market.listing,
      volume: volumeOf(chain, market.pairIndex),
      terms: termsOf(trader, market),
      collateral: collateralAt(chain, collateralIndex).state,
    },
    moment,
  }
}

/** Refuses a size that moves the price, or a price, beyond the integers of the contracts. */
export function refuseUnpriced<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof PriceOutOfRangeError) {
      refuseIssues([{ path: 'body.size', message: 'would execute at a price beyond what the contracts hold' }])
    }
    throw error
  }
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
