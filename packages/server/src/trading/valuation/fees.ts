import { CollateralAmount, HUNDRED_PERCENT, Leverage, max, Usd } from '@bezel/protocol'
import type { CollateralState, Market, PairListing, TraderTerms } from './chainState.ts'
import { collateralOfUsd } from './collateralAmounts.ts'

// The formulas of contracts/src/rules/Fees.sol.

/**
 * Number of minimum fees that a new trade's collateral must cover. What a partial close or a leverage update leaves
 * must cover one.
 */
export const MIN_FEES_ON_OPEN = 5n

/** The whole of a share whose scale is 1e3 per percent. */
const WHOLE_SHARE = 100_000n

type FeeListing = Pick<PairListing, 'feeP' | 'minPositionSizeUsd' | 'counterTradeFeeRateMultiplier'>

/** Returns the multiplier of the pair's fee rate, 1e3. */
export function feeRateMultiplier(listing: FeeListing, isCounterTrade: boolean): bigint {
  return isCounterTrade ? BigInt(listing.counterTradeFeeRateMultiplier) : Leverage.one
}

/**
 * Returns the fee of an open, a close or a part of either, before any tier; a size below the floor pays the fee of the
 * floor. Truncated.
 */
export function rawTradingFeeCollateral(
  sizeCollateral: CollateralAmount,
  isCounterTrade: boolean,
  listing: FeeListing,
  collateral: CollateralState,
): CollateralAmount {
  const floor = collateralOfUsd(listing.minPositionSizeUsd, collateral) * Leverage.one
  const basis = max(sizeCollateral * feeRateMultiplier(listing, isCounterTrade), floor)
  return CollateralAmount.of((basis * listing.feeP) / HUNDRED_PERCENT / Leverage.one)
}

/** Returns a fee after the trader's tier, truncated. */
export function tieredFeeCollateral(rawFee: CollateralAmount, { feeMultiplier }: TraderTerms): CollateralAmount {
  return CollateralAmount.of((rawFee * BigInt(feeMultiplier)) / Leverage.one)
}

/** Returns the fee of the smallest size on which a fee is charged, truncated. */
export function minFeeUsd({ minPositionSizeUsd, feeP }: Pick<FeeListing, 'minPositionSizeUsd' | 'feeP'>): Usd {
  return Usd.of((minPositionSizeUsd * feeP) / HUNDRED_PERCENT)
}

/** Returns the collateral that covers `feeCount` minimum fees, truncated: the Diamond accepts exactly this much. */
export function minCollateral(feeCount: bigint, listing: FeeListing, collateral: CollateralState): CollateralAmount {
  return collateralOfUsd(Usd.of(minFeeUsd(listing) * feeCount), collateral)
}

/** Returns the liquidation fee, a share of the collateral, truncated. */
export function liquidationFeeCollateral(
  collateralAmount: CollateralAmount,
  { liqFeeP }: Pick<PairListing, 'liqFeeP'>,
): CollateralAmount {
  return CollateralAmount.of((collateralAmount * liqFeeP) / HUNDRED_PERCENT)
}

/**
 * Returns the fee of a refused request and of a leverage update ("min gov fee"); `govFeeP` is 1e3 per percent.
 * Truncated at each step.
 */
export function cancelFeeCollateral(
  govFeeP: number,
  { listing, collateral, terms }: Pick<Market, 'listing' | 'collateral' | 'terms'>,
): CollateralAmount {
  const smallest = tieredFeeCollateral(
    rawTradingFeeCollateral(CollateralAmount.zero, false, listing, collateral),
    terms,
  )
  return CollateralAmount.of(((smallest / 2n) * BigInt(govFeeP)) / WHOLE_SHARE)
}
