import { UNMETERED, type RowMeter } from '../../access/weights.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { ABSENT_TYPES } from './absentTypes.ts'
import { activeAssetData } from './activeAssetData.ts'
import { allMids } from './allMids.ts'
import { allPerpMetas, perpAnnotation, perpCategories, perpConciseAnnotations, marginTable, meta } from './meta.ts'
import { candleSnapshot } from './candleSnapshot.ts'
import { clearinghouseState } from './clearinghouseState.ts'
import { extraAgents, userRole } from './extraAgents.ts'
import { frontendOpenOrders } from './frontendOpenOrders.ts'
import { historicalOrders, orderStatus } from './orderStatus.ts'
import { MalformedInfoError, type InfoBody } from './infoRequest.ts'
import type { InfoType, JsonText } from './infoType.ts'
import { l2Book } from './l2Book.ts'
import { metaAndAssetCtxs, predictedFundings } from './assetCtx.ts'
import { openOrders } from './openOrders.ts'
import { recentTrades } from './recentTrades.ts'
import { userFees } from './userFees.ts'
import { userFills, userFillsByTime } from './userFills.ts'
import { userFunding, userNonFundingLedgerUpdates } from './userLedgerUpdates.ts'
import { webData2 } from './webData2.ts'

/** Every `/info` type of the facade, by name. */
export const INFO_TYPES: Readonly<Record<string, InfoType>> = {
  ...ABSENT_TYPES,
  meta,
  metaAndAssetCtxs,
  allMids,
  allPerpMetas,
  marginTable,
  perpAnnotation,
  perpCategories,
  perpConciseAnnotations,
  predictedFundings,
  l2Book,
  candleSnapshot,
  recentTrades,
  clearinghouseState,
  openOrders,
  frontendOpenOrders,
  orderStatus,
  historicalOrders,
  userFills,
  userFillsByTime,
  userFees,
  userFunding,
  userNonFundingLedgerUpdates,
  userRole,
  extraAgents,
  activeAssetData,
  webData2,
}

/**
 * Answers a request by its `type`, and counts the rows of lists. Throws `MalformedInfoError`, `RATE_LIMITED`, and
 * whatever the reads throw.
 */
export function answerInfo(
  body: unknown,
  reads: FacadeReads,
  meter: RowMeter = UNMETERED,
): JsonText | Promise<JsonText> {
  if (!isBody(body)) throw new MalformedInfoError()
  const { type } = body
  const known = typeof type === 'string' && Object.hasOwn(INFO_TYPES, type) ? INFO_TYPES[type] : undefined
  if (known === undefined) throw new MalformedInfoError()
  return known(body, reads, meter)
}

function isBody(body: unknown): body is InfoBody {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
