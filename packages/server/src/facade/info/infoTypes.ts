import type { FacadeReads } from '../facadeReads.ts'
import { ABSENT_TYPES } from './absentTypes.ts'
import { activeAssetData } from './activeAssetData.ts'
import { allMids } from './allMids.ts'
import { allPerpMetas } from './allPerpMetas.ts'
import { candleSnapshot } from './candleSnapshot.ts'
import { clearinghouseState } from './clearinghouseState.ts'
import { extraAgents } from './extraAgents.ts'
import { frontendOpenOrders } from './frontendOpenOrders.ts'
import { historicalOrders } from './historicalOrders.ts'
import { MalformedInfoError, type InfoBody } from './infoRequest.ts'
import type { InfoType, JsonText } from './infoType.ts'
import { l2Book } from './l2Book.ts'
import { meta } from './meta.ts'
import { metaAndAssetCtxs } from './metaAndAssetCtxs.ts'
import { openOrders } from './openOrders.ts'
import { orderStatus } from './orderStatus.ts'
import { recentTrades } from './recentTrades.ts'
import { userFees } from './userFees.ts'
import { userFills } from './userFills.ts'
import { userFillsByTime } from './userFillsByTime.ts'
import { userRole } from './userRole.ts'

/** Every `/info` type of the facade, by name. */
export const INFO_TYPES: Readonly<Record<string, InfoType>> = {
  meta,
  metaAndAssetCtxs,
  allMids,
  spotMeta: ABSENT_TYPES.spotMeta,
  spotMetaAndAssetCtxs: ABSENT_TYPES.spotMetaAndAssetCtxs,
  perpDexs: ABSENT_TYPES.perpDexs,
  outcomeMeta: ABSENT_TYPES.outcomeMeta,
  allPerpMetas,
  exchangeStatus: ABSENT_TYPES.exchangeStatus,
  l2Book,
  candleSnapshot,
  recentTrades,
  clearinghouseState,
  spotClearinghouseState: ABSENT_TYPES.spotClearinghouseState,
  openOrders,
  frontendOpenOrders,
  orderStatus,
  historicalOrders,
  userFills,
  userFillsByTime,
  userFees,
  userFunding: ABSENT_TYPES.userFunding,
  fundingHistory: ABSENT_TYPES.fundingHistory,
  userNonFundingLedgerUpdates: ABSENT_TYPES.userNonFundingLedgerUpdates,
  userRateLimit: ABSENT_TYPES.userRateLimit,
  userAbstraction: ABSENT_TYPES.userAbstraction,
  userRole,
  extraAgents,
  maxBuilderFee: ABSENT_TYPES.maxBuilderFee,
  referral: ABSENT_TYPES.referral,
  subAccounts: ABSENT_TYPES.subAccounts,
  vaultDetails: ABSENT_TYPES.vaultDetails,
  portfolio: ABSENT_TYPES.portfolio,
  activeAssetData,
}

/** Answers a request by its `type`. Throws `MalformedInfoError`, and whatever the reads throw. */
export function answerInfo(body: unknown, reads: FacadeReads): JsonText | Promise<JsonText> {
  if (!isBody(body)) throw new MalformedInfoError()
  const { type } = body
  const known = typeof type === 'string' && Object.hasOwn(INFO_TYPES, type) ? INFO_TYPES[type] : undefined
  if (known === undefined) throw new MalformedInfoError()
  return known(body, reads)
}

function isBody(body: unknown): body is InfoBody {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
