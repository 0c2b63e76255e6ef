import type { DepthBook } from './chainState.ts'
import { smaller } from './scales.ts'

// As contracts/src/rules/DepthBands.sol computes it.

const BANDS_IN_FIRST_WORD = 14
const BANDS_IN_SECOND_WORD = 16
const BAND_BITS = 16n
const DEPTH_BITS = 32n
/** The band that holds all of the depth also takes whatever lies beyond it. */
export const WHOLE_BPS = 10_000n
/** Of the depth in whole USD to 1e18. */
export const BAND_USD_ONE = 10n ** 18n
/** Millionths to 1e10 per percent. */
export const PPM_TO_P = 10n ** 6n

/** A pair of the Diamond's words: the total depth in the low 32 bits of the first, then 14 bands; 16 bands in the second. */
export interface BandWords {
  readonly slot1: bigint
  readonly slot2: bigint
}

export function decodeDepthBook(shares: BandWords, offsets: BandWords): DepthBook {
  return {
    totalDepthUsd: BigInt.asUintN(Number(DEPTH_BITS), shares.slot1),
    sharesBps: decodeBands(shares),
    offsetsPpm: decodeBands(offsets),
  }
}

function decodeBands({ slot1, slot2 }: BandWords): bigint[] {
  return [...words(slot1 >> DEPTH_BITS, BANDS_IN_FIRST_WORD), ...words(slot2, BANDS_IN_SECOND_WORD)]
}

function words(packed: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt.asUintN(Number(BAND_BITS), packed >> (BAND_BITS * BigInt(i))))
}

/**
 * The average-fill impact of `usd` (1e18) through the bands, 1e10 per percent. Each band's average and
 * the weighted whole are truncated.
 */
export function averageImpactP({ totalDepthUsd, sharesBps, offsetsPpm }: DepthBook, usd: bigint): bigint {
  if (totalDepthUsd === 0n || usd === 0n) return 0n
  let remaining = usd
  let weighted = 0n
  let depthBefore = 0n
  let offsetBefore = 0n
  for (const [i, share] of sharesBps.entries()) {
    const depth = (share * totalDepthUsd * BAND_USD_ONE) / WHOLE_BPS
    const offset = (offsetsPpm[i] ?? 0n) * PPM_TO_P
    if (depth > depthBefore) {
      const available = depth - depthBefore
      const taken = share === WHOLE_BPS ? remaining : smaller(remaining, available)
      weighted += (offsetBefore + ((offset - offsetBefore) * taken) / available / 2n) * taken
      remaining -= taken
      depthBefore = depth
    }
    offsetBefore = offset
    if (remaining === 0n) break
  }
  return weighted / usd
}
