import type { FacadeReads } from '../facadeReads.ts'
import { assetCtxTexts } from './assetCtx.ts'
import type { InfoRequest } from './infoRequest.ts'
import { meta, NO_META } from './meta.ts'
import { remembered, type ReadyAnswer } from './remembered.ts'

export const NO_META_AND_CTXS = [NO_META, []]

const answerOf = remembered(
  (reads) => `${reads.marketsVersion()} ${reads.priceVersion()}`,
  (reads) => `[${meta({}, reads).text},[${assetCtxTexts(reads).join(',')}]]`,
)

/** What can be traded, and what each of it is doing, in the same order. */
export function metaAndAssetCtxs(_request: InfoRequest, reads: FacadeReads): ReadyAnswer {
  reads.markets()
  return answerOf(reads)
}
