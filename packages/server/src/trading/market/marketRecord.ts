import type { PairQuote } from './pairQuote.ts'
import { formatDecimal, type Funding, type MarketRecord, type Price } from '@bezel/protocol'
import { BORROWING_RATE_DECIMALS, borrowingHourlyPercent } from '../valuation/hourlyRates.ts'
import { FUNDING_RATE_DECIMALS, fundingHourly } from '../valuation/hourlyRates.ts'
import { marketOpenInterestUsd } from '../valuation/openInterest.ts'
import { HUNDRED_PERCENT, ONE_E3 } from '../valuation/scales.ts'
import { bookOf, booksOf, type ChainMarkets, type ListedMarket } from './chainMarkets.ts'

const USD_DECIMALS = 18
const PRICE_DECIMALS = 10
const LEVERAGE_DECIMALS = 3
/** Of a fraction made from percent at 1e10. */
const FRACTION_DECIMALS = 12
/** The Diamond takes a trade whose collateral is at least so many times the smallest fee. */
const MIN_COLLATERAL_FEES = 5n

/** The smallest collateral and notional that the Diamond takes, 1e18 USD. */
export interface MarketMinimums {
  readonly minCollateralUsd: bigint
  readonly minPositionUsd: bigint
}

export function marketMinimums({
  listing,
  minLeverage,
}: Pick<ListedMarket, 'listing' | 'minLeverage'>): MarketMinimums {
  const minFeeUsd = (listing.minPositionSizeUsd * listing.feeP) / HUNDRED_PERCENT
  const minCollateralUsd = MIN_COLLATERAL_FEES * minFeeUsd
  return { minCollateralUsd, minPositionUsd: (minCollateralUsd * minLeverage) / ONE_E3 }
}

/** A market as the interface shows it, at a price. */
export function marketRecord(chain: ChainMarkets, market: ListedMarket, mark: bigint, isOpen: boolean): MarketRecord {
  const { listing } = market
  const { minCollateralUsd, minPositionUsd } = marketMinimums(market)
  const feeRate = formatDecimal(listing.feeP, FRACTION_DECIMALS)
  return {
    symbol: market.symbol,
    pairIndex: market.pairIndex,
    base: market.base,
    quote: market.quote,
    group: market.group,
    groupIndex: market.groupIndex,
    feeIndex: market.feeIndex,
    isOpen,
    minLeverage: formatDecimal(market.minLeverage, LEVERAGE_DECIMALS),
    maxLeverage: formatDecimal(market.maxLeverage, LEVERAGE_DECIMALS),
    minCollateralUsd: formatDecimal(minCollateralUsd, USD_DECIMALS),
    minPositionUsd: formatDecimal(minPositionUsd, USD_DECIMALS),
    pricePrecision: market.pricePrecision,
    sizePrecision: market.sizePrecision,
    spreadRate: formatDecimal(listing.spreadP, FRACTION_DECIMALS),
    fees: {
      openFeeRate: feeRate,
      closeFeeRate: feeRate,
      minPositionSizeUsd: formatDecimal(listing.minPositionSizeUsd, USD_DECIMALS),
    },
    funding: fundingRecord(chain, market.pairIndex, mark),
    onlyIsolated: true,
    collaterals: chain.collaterals
      .filter(({ isActive }) => isActive)
      .map(({ symbol, index, address, decimals }) => ({ symbol, index, address, decimals })),
  }
}

/** Rates of the chain's default collateral, as of the block that was read; open interest is the sum over all collaterals at `mark`. */
export function fundingRecord(chain: ChainMarkets, pairIndex: number, mark: bigint): Funding {
  const book = bookOf(chain, chain.defaultCollateralIndex, pairIndex)
  const rates = book && fundingHourly(book.pair, book.collateral, mark, chain.moment.timestampS)
  const { longUsd, shortUsd, skewUsd } = marketOpenInterestUsd(booksOf(chain, pairIndex), mark)
  return {
    fundingRateLongHourly: formatDecimal(rates?.longPercent ?? 0n, FUNDING_RATE_DECIMALS),
    fundingRateShortHourly: formatDecimal(rates?.shortPercent ?? 0n, FUNDING_RATE_DECIMALS),
    borrowingRateHourly: formatDecimal(book ? borrowingHourlyPercent(book.pair) : 0n, BORROWING_RATE_DECIMALS),
    openInterestLongUsd: formatDecimal(longUsd, USD_DECIMALS),
    openInterestShortUsd: formatDecimal(shortUsd, USD_DECIMALS),
    skewUsd: formatDecimal(skewUsd, USD_DECIMALS),
  }
}

export function priceRecord({ symbol }: ListedMarket, { mark, index, updatedAtMs }: PairQuote): Price {
  return {
    market: symbol,
    mark: formatDecimal(mark, PRICE_DECIMALS),
    index: formatDecimal(index, PRICE_DECIMALS),
    updatedAt: updatedAtMs,
  }
}
