import type { FacadeReads } from '../facadeReads.ts'
import type { InfoRequest } from './infoRequest.ts'
import { meta } from './meta.ts'
import { remembered, type ReadyAnswer } from './remembered.ts'

const answerOf = remembered(
  (reads) => String(reads.marketsVersion()),
  (reads) => `[${meta({}, reads).text}]`,
)

/** The meta of every exchange within the exchange: of the one there is. */
export function allPerpMetas(_request: InfoRequest, reads: FacadeReads): ReadyAnswer {
  reads.markets()
  return answerOf(reads)
}
