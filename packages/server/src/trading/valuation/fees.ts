import { collateralOfUsd } from './collateralAmounts.ts'
import type { CollateralState, PairListing, TraderTerms } from './chainState.ts'
import { HUNDRED_PERCENT, larger, ONE_E3 } from './scales.ts'

// As contracts/src/rules/Fees.sol computes it.

/** A new trade's collateral covers at least this many minimum fees; what a partial close or a leverage update leaves covers one. */
export const MIN_FEES_ON_OPEN = 5n

/** 100 % of a share in 1e3 per percent. */
const WHOLE_SHARE = 100_000n

type FeeListing = Pick<PairListing, 'feeP' | 'minPositionSizeUsd' | 'counterTradeFeeRateMultiplier'>

/** 1e3 of the pair's rate. */
export function feeRateMultiplier(listing: FeeListing, isCounterTrade: boolean): bigint {
  return isCounterTrade ? BigInt(listing.counterTradeFeeRateMultiplier) : ONE_E3
}

/** Fee of an open, a close or a part of either, before any tier; a size below the floor pays as the floor does. Truncated. */
export function rawTradingFeeCollateral(
  sizeCollateral: bigint,
  isCounterTrade: boolean,
  listing: FeeListing,
  collateral: CollateralState,
): bigint {
  const floor = collateralOfUsd(listing.minPositionSizeUsd, collateral) * ONE_E3
  const basis = larger(sizeCollateral * feeRateMultiplier(listing, isCounterTrade), floor)
  return (basis * listing.feeP) / HUNDRED_PERCENT / ONE_E3
}

/** A fee as a trader's tier leaves it, truncated. */
export function tieredFeeCollateral(rawFeeCollateral: bigint, { feeMultiplier }: TraderTerms): bigint {
  return (rawFeeCollateral * BigInt(feeMultiplier)) / ONE_E3
}

/** 1e18, truncated. */
export function minFeeUsd({ minPositionSizeUsd, feeP }: FeeListing): bigint {
  return (minPositionSizeUsd * feeP) / HUNDRED_PERCENT
}

/** Collateral that covers `feeCount` minimum fees, truncated: the Diamond accepts exactly this much. */
export function minCollateral(feeCount: bigint, listing: FeeListing, collateral: CollateralState): bigint {
  return collateralOfUsd(minFeeUsd(listing) * feeCount, collateral)
}

/** Of the collateral, truncated. */
export function liquidationFeeCollateral(collateralAmount: bigint, { liqFeeP }: Pick<PairListing, 'liqFeeP'>): bigint {
  return (collateralAmount * liqFeeP) / HUNDRED_PERCENT
}

/** Price of a refused request and of a leverage update ("min gov fee"); `govFeeP` is 1e3 per percent. Truncated twice. */
export function cancelFeeCollateral(govFeeP: number, listing: FeeListing, collateral: CollateralState): bigint {
  return ((rawTradingFeeCollateral(0n, false, listing, collateral) / 2n) * BigInt(govFeeP)) / WHOLE_SHARE
}
