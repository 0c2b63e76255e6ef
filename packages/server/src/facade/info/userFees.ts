import { Fraction, max, PercentP } from '@bezel/protocol'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed } from '../priceText.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'
const NONE = '0.0'

interface UserFees {
  readonly dailyUserVlm: readonly never[]
  readonly feeSchedule: {
    readonly cross: string
    readonly add: string
    readonly spotCross: string
    readonly spotAdd: string
    readonly tiers: { readonly vip: readonly never[]; readonly mm: readonly never[] }
    readonly referralDiscount: string
    readonly stakingDiscountTiers: readonly never[]
  }
  readonly userCrossRate: string
  readonly userAddRate: string
  readonly userSpotCrossRate: string
  readonly userSpotAddRate: string
  readonly activeReferralDiscount: string
  readonly trial: null
  readonly feeTrialEscrow: string
  readonly nextTrialAvailableTimestamp: null
  readonly stakingLink: null
  readonly activeStakingDiscount: { readonly bpsOfMaxSupply: string; readonly discount: string }
}

/**
 * Fee rates. The shape has one rate for all markets, so it is the highest of them: no order costs more than a client
 * expects.
 */
export const userFees = defineInfo<UserRequest, UserFees>({
  parse: userRequest,
  answer: (_request, reads) => userFeesOf(reads),
})

function userFeesOf(reads: FacadeReads): UserFees {
  const feePs = [...reads.markets().markets.values()].map(({ listing }) => listing.feeP)
  const rate = pointed(Fraction.format(Fraction.of(feePs.reduce(max<PercentP>, PercentP.zero))))
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
