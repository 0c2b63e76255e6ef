import type { Market, Moment } from './chainState.ts'
import { averageImpactP } from './depthBands.ts'
import { ONE_E3, P_10 } from './scales.ts'
import { activeVolumeUsd } from './volumeWindows.ts'

// As contracts/src/rules/PriceImpact.sol computes it.

/** A close as the volume impact sees it. */
export interface ClosingVolume {
  readonly long: boolean
  /** 1e18. */
  readonly sizeUsd: bigint
  readonly isPnlPositive: boolean
  readonly lastPosIncreaseBlock: number
}

/** 1e10 per percent, + raises the price. */
export function openVolumeImpactP(long: boolean, sizeUsd: bigint, market: Market, { timestampS }: Moment): bigint {
  if (market.listing.factors.exemptOnOpen) return 0n
  return signedImpactP(long, sizeUsd, P_10, market, timestampS)
}

/** The same for a close, which goes the other way: a long that closes sells. */
export function closeVolumeImpactP(close: ClosingVolume, market: Market, moment: Moment): bigint {
  const { protectionCloseFactor, exemptAfterProtectionCloseFactor } = market.listing.factors
  const isProtected = isProtectedClose(close, market, moment)
  if (!isProtected && exemptAfterProtectionCloseFactor) return 0n
  const factor = isProtected ? BigInt(protectionCloseFactor) : P_10
  return signedImpactP(!close.long, close.sizeUsd, factor, market, moment.timestampS)
}

/** A close in profit soon after the last increase bears the protection factor, unless the trader is whitelisted. */
function isProtectedClose(close: ClosingVolume, { listing, terms }: Market, { blockNumber }: Moment): boolean {
  const { protectionCloseFactor, protectionCloseFactorBlocks } = listing.factors
  return (
    close.isPnlPositive &&
    protectionCloseFactor > 0 &&
    !terms.isProtectionWhitelisted &&
    blockNumber <= close.lastPosIncreaseBlock + protectionCloseFactorBlocks
  )
}

function signedImpactP(isBuy: boolean, sizeUsd: bigint, factor: bigint, market: Market, timestampS: number): bigint {
  const { cumulVolPriceImpactMultiplier } = market.terms
  const k = cumulVolPriceImpactMultiplier > 0 ? (factor * BigInt(cumulVolPriceImpactMultiplier)) / ONE_E3 : factor
  const impactP = (bandImpactP(isBuy, sizeUsd, market, timestampS) * k) / P_10
  return isBuy ? impactP : -impactP
}

/** f(e) + (f(e + S) - f(e)) / 2, e being the recent volume of the same side. */
function bandImpactP(isBuy: boolean, sizeUsd: bigint, { listing, volume }: Market, timestampS: number): bigint {
  const book = isBuy ? listing.depthAbove : listing.depthBelow
  const existingUsd = (activeVolumeUsd(volume, isBuy, timestampS) * BigInt(listing.factors.cumulativeFactor)) / P_10
  const before = averageImpactP(book, existingUsd)
  const beyond = averageImpactP(book, existingUsd + sizeUsd)
  // Truncation inside the bands can put the larger volume's average one unit below the smaller one's.
  return beyond > before ? before + (beyond - before) / 2n : before
}
