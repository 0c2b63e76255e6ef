import type { FacadeReads } from '../facadeReads.ts'
import { isOtherDex, type InfoRequest } from './infoRequest.ts'
import { INFO_TYPES } from './infoTypes.ts'
import { MalformedInfoError } from './malformedInfo.ts'
import type { ReadyAnswer } from './remembered.ts'

/** The JSON of an answer, as bytes where they are there already. Throws `MalformedInfoError`, and what the reads throw. */
export function answerInfo(body: unknown, reads: FacadeReads): Buffer | string | Promise<Buffer | string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new MalformedInfoError()
  const request = body as InfoRequest
  const { type } = request
  const known = typeof type === 'string' && Object.hasOwn(INFO_TYPES, type) ? INFO_TYPES[type] : undefined
  if (known === undefined) throw new MalformedInfoError()
  const isElsewhere = isOtherDex(request) && known.inOtherDex !== undefined
  const answer = (isElsewhere ? known.inOtherDex! : known.answer)(request, reads)
  return answer instanceof Promise ? answer.then(written) : written(answer)
}

function written(answer: unknown): Buffer | string {
  return isReady(answer) ? answer.bytes : JSON.stringify(answer)
}

function isReady(answer: unknown): answer is ReadyAnswer {
  return typeof answer === 'object' && answer !== null && 'bytes' in answer && answer.bytes instanceof Buffer
}
