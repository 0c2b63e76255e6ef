import { errorAnswer } from '../chain/answer.ts'
import { RPC_CODES, RpcError } from '../chain/rpcError.ts'
import { RPC_LIMITS } from './limits.ts'
import { idOf, parseRequest } from './parseRequest.ts'
import type { RequestId, RpcRequest } from './parseRequest.ts'

/** Runs one request; gives answer text (chain/answer.ts). `requestText` is the request as it came, if it can be used as it is. */
export type RunMethod = (method: string, params: readonly unknown[], requestText: string | undefined) => Promise<string>

/** True for methods that may change something, so that the rest of a batch has to wait for them. */
export type IsWrite = (method: string) => boolean

export interface Responder {
  run: RunMethod
  isWrite: IsWrite
}

/** Answers one JSON-RPC message, single or batch. Never throws; undefined means that there is nothing to answer. */
export async function respond(responder: Responder, text: string): Promise<string | undefined> {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return frame(null, errorAnswer(new RpcError(RPC_CODES.parseError, 'parse error: the request is not JSON')))
  }
  if (Array.isArray(message)) return respondToBatch(responder, message)
  return respondToOne(responder, message, text)
}

async function respondToOne(
  responder: Responder,
  element: unknown,
  text: string | undefined,
): Promise<string | undefined> {
  let request: RpcRequest
  try {
    request = parseRequest(element)
  } catch (error) {
    return frame(idOf(element), errorAnswer(error))
  }
  const answer = await runSafely(responder.run, request, request.complete ? text : undefined)
  return request.id === undefined ? undefined : frame(request.id, answer)
}

async function runSafely(run: RunMethod, { method, params }: RpcRequest, text: string | undefined): Promise<string> {
  try {
    return await run(method, params, text)
  } catch (error) {
    return errorAnswer(error)
  }
}

/** Requests of a batch that are under way at once; after each such group the length of the answers so far is known. */
const BATCH_STRIDE = 50

async function respondToBatch(responder: Responder, batch: readonly unknown[]): Promise<string | undefined> {
  const refusal = refuseBatch(batch)
  if (refusal !== undefined) return frame(null, errorAnswer(refusal))
  const bounded = boundAnswers(responder)
  const answers: Promise<string | undefined>[] = []
  for (const element of batch) {
    const writes = isWriteElement(responder.isWrite, element)
    // Reads go side by side; a write sees all before it done, and is done before all after it.
    if (writes || answers.length % BATCH_STRIDE === 0) await Promise.all(answers)
    const answer = respondToOne(bounded, element, undefined)
    answers.push(answer)
    if (writes) await answer
  }
  const parts = (await Promise.all(answers)).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : `[${parts.join(',')}]`
}

/** Refuses what would make the answer of a batch longer than it may be: a thousand long lists of logs don't fit in memory. */
function boundAnswers(responder: Responder): Responder {
  let leftChars: number = RPC_LIMITS.maxBatchAnswerChars
  const limit = `the answers of this batch are longer than ${RPC_LIMITS.maxBatchAnswerChars} characters: ask for less at once`
  return {
    isWrite: responder.isWrite,
    async run(method, params, requestText) {
      if (leftChars <= 0) throw new RpcError(RPC_CODES.limitExceeded, limit)
      const answer = await responder.run(method, params, requestText)
      leftChars -= answer.length
      if (leftChars < 0) throw new RpcError(RPC_CODES.limitExceeded, limit)
      return answer
    },
  }
}

function refuseBatch(batch: readonly unknown[]): RpcError | undefined {
  if (batch.length === 0) return new RpcError(RPC_CODES.invalidRequest, 'invalid request: empty batch')
  if (batch.length <= RPC_LIMITS.maxBatchLength) return undefined
  return new RpcError(
    RPC_CODES.invalidRequest,
    `a batch may have at most ${RPC_LIMITS.maxBatchLength} requests, not ${batch.length}`,
  )
}

function isWriteElement(isWrite: IsWrite, element: unknown): boolean {
  const method: unknown =
    typeof element === 'object' && element !== null && 'method' in element ? element.method : undefined
  return typeof method === 'string' && isWrite(method)
}

/** Puts the members in front that an answer lacks. */
export function frame(id: RequestId, answer: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer.slice(1)}`
}
