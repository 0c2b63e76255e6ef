import {
  CollateralAmount,
  Fraction,
  Leverage,
  max,
  TradingActivated,
  type Address,
  type Decimal,
  type OrderPreview,
  type OrderReason,
  type PercentP,
} from '@bezel/protocol'
import { notReady } from '../../ground/unavailable.ts'
import { bookOf, volumeOf, type ChainMarkets, type ListedMarket } from '../market/chainMarkets.ts'
import type { TradingContext } from '../plan/plan.ts'
import type { Market, Trade } from '../valuation/chainState.ts'
import { positionSizeCollateral } from '../valuation/collateralAmounts.ts'
import { feeRateMultiplier, tieredFeeCollateral } from '../valuation/fees.ts'
import type { PriceImpact } from '../valuation/priceImpact.ts'

/** The fields of a preview that say something about the account instead of the trade. */
export type AccountFields = 'missing' | 'spend' | 'simulation'

/** The trader of a preview and the market that it trades in. */
export interface PreviewedTrade {
  readonly trader: Address
  readonly market: ListedMarket
  readonly collateralIndex: number
}

/** Returns everything that decides the price of a trade. Throws `NOT_READY` while the pair's state is not read yet. */
export function marketOfTrade({ trader, market, collateralIndex }: PreviewedTrade, context: TradingContext): Market {
  const { chain, termsOf } = context
  const book = bookOf(chain, collateralIndex, market.pairIndex)
  if (book === undefined) throw notReady('starting')
  const { listing, pairIndex } = market
  return { listing, ...book, volume: volumeOf(chain, pairIndex), terms: termsOf(trader, market) }
}

/** Returns the reason of a paused Diamond; `null` while it accepts the request. In close-only mode it takes closes. */
export function pausedReason(
  { tradingActivated }: ChainMarkets,
  of: { readonly isClose: boolean },
): OrderReason | null {
  const { ACTIVATED, PAUSED } = TradingActivated
  return (of.isClose ? tradingActivated !== PAUSED : tradingActivated === ACTIVATED) ? null : 'PAUSED'
}

type Rates = Pick<OrderPreview, 'spreadRate' | 'volumeImpactRate' | 'skewImpactRate' | 'priceImpactRate'>

/**
 * Returns the parts of an execution price as fractions, positive where they cost the trader. Of several executions each
 * is the average by size, truncated.
 */
export function ratesOf(isBuy: boolean, impacts: readonly PriceImpact[]): Rates {
  const weight = impacts.reduce((sum, { positionSizeToken }) => sum + positionSizeToken, 0n)
  const rate = (part: (impact: PriceImpact) => PercentP): Decimal => {
    const weighted = impacts.reduce((sum, impact) => sum + part(impact) * impact.positionSizeToken, 0n)
    const average = weight === 0n ? part(impacts[0]!) : weighted / weight
    return Fraction.format(Fraction.of(isBuy ? average : -average))
  }
  return {
    spreadRate: rate(({ fixedSpreadP }) => fixedSpreadP),
    volumeImpactRate: rate(({ cumulVolPriceImpactP }) => cumulVolPriceImpactP),
    skewImpactRate: rate(({ skewPriceImpactP }) => skewPriceImpactP),
    priceImpactRate: rate(({ totalPriceImpactP }) => totalPriceImpactP),
  }
}

/** A trade on whose notional a fee is charged. */
type FeeTrade = Pick<Trade, 'collateralAmount' | 'leverage' | 'isCounterTrade'>

/**
 * Returns the trading fee as a fraction of the notional, after the trader's tier. Of several trades it is the average
 * by notional, truncated.
 */
export function feeRateOf(trades: readonly FeeTrade[], { listing, terms }: Pick<Market, 'listing' | 'terms'>): Decimal {
  let notional = 0n
  let weighted = 0n
  for (const trade of trades) {
    const size = positionSizeCollateral(trade)
    const raw = (listing.feeP * feeRateMultiplier(listing, trade.isCounterTrade)) / Leverage.one
    // The tier is applied to a rate as to an amount.
    weighted += size * tieredFeeCollateral(CollateralAmount.of(raw), terms)
    notional += size
  }
  return Fraction.format(Fraction.of(weighted / max(notional, 1n)))
}
