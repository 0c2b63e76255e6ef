import { min, PercentP, Usd } from '@bezel/protocol'
import type { DepthBook } from './chainState.ts'

// The formulas of contracts/src/rules/DepthBands.sol.

const BANDS_IN_FIRST_WORD = 14
const BANDS_IN_SECOND_WORD = 16
const BAND_BITS = 16n
const DEPTH_BITS = 32n
/**
 * Share of the band that completes the depth, in hundredths of a percent. That band also takes everything beyond the
 * depth.
 */
export const WHOLE_BPS = 10_000n
/** Factor from millionths to a `PercentP`. */
export const PPM_TO_P = 10n ** 6n

/**
 * Two storage words of the Diamond. The first has the total depth in its low 32 bits, then 14 bands; the second has 16
 * bands.
 */
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
 * Returns the average impact of filling `usd` through the bands. Each band's average and the weighted total are
 * truncated.
 */
export function averageImpactP({ totalDepthUsd, sharesBps, offsetsPpm }: DepthBook, usd: Usd): PercentP {
  if (totalDepthUsd === 0n || usd === 0n) return PercentP.zero
  let remaining: bigint = usd
  let weighted = 0n
  let depthBefore = 0n
  let offsetBefore = 0n
  for (const [i, share] of sharesBps.entries()) {
    const depth = (share * totalDepthUsd * Usd.one) / WHOLE_BPS
    const offset = (offsetsPpm[i] ?? 0n) * PPM_TO_P
    if (depth > depthBefore) {
      const available = depth - depthBefore
      const taken = share === WHOLE_BPS ? remaining : min(remaining, available)
      weighted += (offsetBefore + ((offset - offsetBefore) * taken) / available / 2n) * taken
      remaining -= taken
      depthBefore = depth
    }
    offsetBefore = offset
    if (remaining === 0n) break
  }
  return PercentP.of(weighted / usd)
}
