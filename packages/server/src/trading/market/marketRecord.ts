import { type PairQuote, bookOf, booksOf, type ChainMarkets, type ListedMarket } from './chainMarkets.ts'
import {
  Fraction,
  FundingRateP,
  Leverage,
  PercentP,
  Price,
  Usd,
  type Funding,
  type MarketPrice,
  type MarketRecord,
} from '@bezel/protocol'
import { minFeeUsd, MIN_FEES_ON_OPEN } from '../valuation/fees.ts'
import { borrowingHourlyPercent, fundingHourly } from '../valuation/funding.ts'
import { marketOpenInterestUsd } from '../valuation/openInterest.ts'

/** The smallest collateral and notional that the Diamond accepts. */
export interface MarketMinimums {
  readonly minCollateralUsd: Usd
  readonly minPositionUsd: Usd
}

export function marketMinimums({
  listing,
  minLeverage,
}: Pick<ListedMarket, 'listing' | 'minLeverage'>): MarketMinimums {
  const minCollateralUsd = Usd.of(MIN_FEES_ON_OPEN * minFeeUsd(listing))
  return { minCollateralUsd, minPositionUsd: Usd.of((minCollateralUsd * minLeverage) / Leverage.one) }
}

/** Returns a market as the interface shows it, at a price. */
export function marketRecord(chain: ChainMarkets, market: ListedMarket, mark: Price, isOpen: boolean): MarketRecord {
  const { listing } = market
  const { minCollateralUsd, minPositionUsd } = marketMinimums(market)
  const feeRate = Fraction.format(Fraction.of(listing.feeP))
  return {
    symbol: market.symbol,
    pairIndex: market.pairIndex,
    base: market.base,
    quote: market.quote,
    group: market.group,
    groupIndex: market.groupIndex,
    feeIndex: market.feeIndex,
    isOpen,
    minLeverage: Leverage.format(market.minLeverage),
    maxLeverage: Leverage.format(market.maxLeverage),
    minCollateralUsd: Usd.format(minCollateralUsd),
    minPositionUsd: Usd.format(minPositionUsd),
    pricePrecision: market.pricePrecision,
    sizePrecision: market.sizePrecision,
    spreadRate: Fraction.format(Fraction.of(listing.spreadP)),
    fees: {
      openFeeRate: feeRate,
      closeFeeRate: feeRate,
      minPositionSizeUsd: Usd.format(listing.minPositionSizeUsd),
    },
    funding: fundingRecord(chain, market.pairIndex, mark),
    onlyIsolated: true,
    collaterals: chain.collaterals
      .filter(({ isActive }) => isActive)
      .map(({ symbol, index, address, decimals }) => ({ symbol, index, address, decimals })),
  }
}

/**
 * Returns the rates of the chain's default collateral, as of the block that was read. Open interest is the sum over all
 * collaterals at `mark`.
 */
export function fundingRecord(chain: ChainMarkets, pairIndex: number, mark: Price): Funding {
  const book = bookOf(chain, chain.defaultCollateralIndex, pairIndex)
  const rates = book && fundingHourly(book.pair, book.collateral, mark, chain.moment.timestampS)
  const { longUsd, shortUsd, skewUsd } = marketOpenInterestUsd(booksOf(chain, pairIndex), mark)
  return {
    fundingRateLongHourly: FundingRateP.format(rates?.longPercent ?? FundingRateP.zero),
    fundingRateShortHourly: FundingRateP.format(rates?.shortPercent ?? FundingRateP.zero),
    borrowingRateHourly: PercentP.format(
      book ? borrowingHourlyPercent(book, mark, chain.blocksPerHour) : PercentP.zero,
    ),
    openInterestLongUsd: Usd.format(longUsd),
    openInterestShortUsd: Usd.format(shortUsd),
    skewUsd: Usd.format(skewUsd),
  }
}

export function priceRecord({ symbol }: ListedMarket, { mark, index, updatedAtMs }: PairQuote): MarketPrice {
  return {
    market: symbol,
    mark: Price.format(mark),
    index: Price.format(index),
    updatedAt: updatedAtMs,
  }
}
