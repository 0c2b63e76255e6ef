import type { FacadeReads } from '../facadeReads.ts'
import { activeAssetData } from './activeAssetData.ts'
import { allMids } from './allMids.ts'
import { allPerpMetas } from './allPerpMetas.ts'
import { candleSnapshot } from './candleSnapshot.ts'
import { clearinghouseState, noClearinghouseState } from './clearinghouseState.ts'
import { exchangeStatus } from './exchangeStatus.ts'
import { extraAgents } from './extraAgents.ts'
import { frontendOpenOrders } from './frontendOpenOrders.ts'
import { fundingHistory } from './fundingHistory.ts'
import { historicalOrders } from './historicalOrders.ts'
import type { InfoRequest } from './infoRequest.ts'
import { l2Book } from './l2Book.ts'
import { maxBuilderFee } from './maxBuilderFee.ts'
import { meta, NO_META } from './meta.ts'
import { metaAndAssetCtxs, NO_META_AND_CTXS } from './metaAndAssetCtxs.ts'
import { openOrders } from './openOrders.ts'
import { orderStatus } from './orderStatus.ts'
import { outcomeMeta } from './outcomeMeta.ts'
import { perpDexs } from './perpDexs.ts'
import { portfolio } from './portfolio.ts'
import { recentTrades } from './recentTrades.ts'
import { referral } from './referral.ts'
import { spotClearinghouseState } from './spotClearinghouseState.ts'
import { spotMeta } from './spotMeta.ts'
import { spotMetaAndAssetCtxs } from './spotMetaAndAssetCtxs.ts'
import { subAccounts } from './subAccounts.ts'
import { userAbstraction } from './userAbstraction.ts'
import { userFees } from './userFees.ts'
import { userFills } from './userFills.ts'
import { userFillsByTime } from './userFillsByTime.ts'
import { userFunding } from './userFunding.ts'
import { userNonFundingLedgerUpdates } from './userNonFundingLedgerUpdates.ts'
import { userRateLimit } from './userRateLimit.ts'
import { userRole } from './userRole.ts'
import { vaultDetails } from './vaultDetails.ts'

/** Answers a request of one type: JSON, or an answer that is written already. Throws `MalformedInfoError`. */
export type InfoAnswerer = (request: InfoRequest, reads: FacadeReads) => unknown

/** What there is to be asked of the facade. */
export interface InfoType {
  readonly answer: InfoAnswerer
  /** When the request names an exchange within the exchange: there are none. Types without it take no such name. */
  readonly inOtherDex?: InfoAnswerer
}

const always = (answer: unknown): InfoAnswerer => {
  return () => answer
}

/** Every type, by its name. */
export const INFO_TYPES: Readonly<Record<string, InfoType>> = {
  meta: { answer: meta, inOtherDex: always(NO_META) },
  metaAndAssetCtxs: { answer: metaAndAssetCtxs, inOtherDex: always(NO_META_AND_CTXS) },
  allMids: { answer: allMids, inOtherDex: always({}) },
  spotMeta: { answer: spotMeta },
  spotMetaAndAssetCtxs: { answer: spotMetaAndAssetCtxs },
  perpDexs: { answer: perpDexs },
  outcomeMeta: { answer: outcomeMeta },
  allPerpMetas: { answer: allPerpMetas },
  exchangeStatus: { answer: exchangeStatus },
  l2Book: { answer: l2Book },
  candleSnapshot: { answer: candleSnapshot },
  recentTrades: { answer: recentTrades },
  clearinghouseState: { answer: clearinghouseState, inOtherDex: noClearinghouseState },
  spotClearinghouseState: { answer: spotClearinghouseState },
  openOrders: { answer: openOrders, inOtherDex: always([]) },
  frontendOpenOrders: { answer: frontendOpenOrders, inOtherDex: always([]) },
  orderStatus: { answer: orderStatus },
  historicalOrders: { answer: historicalOrders },
  userFills: { answer: userFills },
  userFillsByTime: { answer: userFillsByTime },
  userFees: { answer: userFees },
  userFunding: { answer: userFunding },
  fundingHistory: { answer: fundingHistory },
  userNonFundingLedgerUpdates: { answer: userNonFundingLedgerUpdates },
  userRateLimit: { answer: userRateLimit },
  userAbstraction: { answer: userAbstraction },
  userRole: { answer: userRole },
  extraAgents: { answer: extraAgents },
  maxBuilderFee: { answer: maxBuilderFee },
  referral: { answer: referral },
  subAccounts: { answer: subAccounts },
  vaultDetails: { answer: vaultDetails },
  portfolio: { answer: portfolio },
  activeAssetData: { answer: activeAssetData },
}
