import { formatDecimal } from '@bezel/protocol'
import { larger } from '../../trading/valuation/scales.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed } from '../priceText.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'

/** Percent at 1e10 is a fraction at 1e12. */
const FRACTION_DECIMALS = 12
const NONE = '0.0'

/** One rate has room for all markets, so it is the highest of them: no order costs more than a client reckons with. */
export function userFees(request: InfoRequest, reads: FacadeReads): unknown {
  userOf(request)
  const feePs = [...reads.markets().markets.values()].map(({ listing }) => listing.feeP)
  const rate = pointed(formatDecimal(feePs.reduce(larger, 0n), FRACTION_DECIMALS))
  return {
    dailyUserVlm: [],
    feeSchedule: {
      cross: rate,
      add: rate,
      spotCross: NONE,
      spotAdd: NONE,
      tiers: { vip: [], mm: [] },
      referralDiscount: NONE,
      stakingDiscountTiers: [],
    },
    userCrossRate: rate,
    userAddRate: rate,
    userSpotCrossRate: NONE,
    userSpotAddRate: NONE,
    activeReferralDiscount: NONE,
    trial: null,
    feeTrialEscrow: NONE,
    nextTrialAvailableTimestamp: null,
    stakingLink: null,
    activeStakingDiscount: { bpsOfMaxSupply: NONE, discount: NONE },
  }
}
