import { userOf, type InfoRequest } from './infoRequest.ts'

/** Nobody is referred through the facade. */
export function referral(request: InfoRequest): unknown {
  userOf(request)
  return {
    referredBy: null,
    cumVlm: '0.0',
    unclaimedRewards: '0.0',
    claimedRewards: '0.0',
    builderRewards: '0.0',
    referrerState: { stage: 'needToCreateCode' },
    rewardHistory: [],
    tokenToState: [],
  }
}
