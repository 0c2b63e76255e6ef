import type { PairState } from './chainState.ts'
import { smaller } from './scales.ts'

// As contracts/src/rules/HoldingFees.sol computes it.

export const MULTIPLIER_ONE = 10n ** 20n
/** However lopsided the pair, nobody earns more than this times what the others pay. */
const MAX_MULTIPLIER = 100n * MULTIPLIER_ONE

/** What each side's funding is scaled by, 1e20. */
export interface SideMultipliers {
  readonly long: bigint
  readonly short: bigint
}

/** A side without open interest gets 0; with the APR multiplier the earning side shares what the other side pays. Truncated. */
export function fundingMultipliers(
  { fundingParams, oiLongToken, oiShortToken }: Pick<PairState, 'fundingParams' | 'oiLongToken' | 'oiShortToken'>,
  doLongsPay: boolean,
): SideMultipliers {
  const isShared = fundingParams.aprMultiplierEnabled
  return {
    long: multiplier(oiLongToken, oiShortToken, isShared && !doLongsPay),
    short: multiplier(oiShortToken, oiLongToken, isShared && doLongsPay),
  }
}

function multiplier(ownToken: bigint, otherToken: bigint, isShared: boolean): bigint {
  if (ownToken === 0n) return 0n
  return isShared ? smaller((otherToken * MULTIPLIER_ONE) / ownToken, MAX_MULTIPLIER) : MULTIPLIER_ONE
}
