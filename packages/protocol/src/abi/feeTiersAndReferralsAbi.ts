import { parseAbi } from 'viem'
import {
  feeTierStruct,
  traderInfoStruct,
  traderDailyInfoStruct,
  traderEnrollmentStruct,
  gnsStakingInfoStruct,
} from './structs.ts'

/** Fee tiers, staking discounts and referrers. */
export const feeTiersAndReferralsAbi = parseAbi([
  feeTierStruct,
  traderInfoStruct,
  traderDailyInfoStruct,
  traderEnrollmentStruct,
  gnsStakingInfoStruct,
  'function calculateFeeAmount(address _trader, uint256 _normalFeeAmountCollateral) view returns (uint256)',
  'function getFeeTier(uint256 _feeTierIndex) view returns (FeeTier)',
  'function getFeeTiers() view returns (FeeTier[])',
  'function getFeeTiersCount() view returns (uint256)',
  'function getFeeTiersTraderInfo(address _trader) view returns (TraderInfo)',
  'function getFeeTiersTraderDailyInfo(address _trader, uint32 _day) view returns (TraderDailyInfo)',
  'function getGroupVolumeMultiplier(uint256 _groupIndex) view returns (uint256)',
  'function getTraderFeeTiersEnrollment(address _trader) view returns (TraderEnrollment)',
  'function getGnsStakingInfo(address _trader) view returns (GnsStakingInfo)',
  'function getTraderActiveReferrer(address _trader) view returns (address)',
])
