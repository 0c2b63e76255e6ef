import { errorAnswer, RPC_CODES, RpcError, resultAnswer } from '../chain/jsonRpc.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { CHAIN_METHODS } from '../chain/methods.ts'

/** Every limit of the RPC server, in one list. */
export const RPC_LIMITS = {
  /** Longest HTTP body or WebSocket message. */
  maxBodyBytes: 5_000_000,
  maxBatchLength: 1_000,
  /** Length of all answers of a batch together. Requests beyond it are answered with an error. */
  maxBatchAnswerChars: 25_000_000,
  /** Requests in flight per WebSocket, so that a client that only writes can't fill the memory. */
  maxSocketRequests: 2_000,
  maxSocketSubscriptions: 100,
  /** Unread bytes after which a reader is disconnected. */
  maxSocketBufferBytes: 16_000_000,
} as const

/**
 * Runs one request and returns the answer text (see chain/jsonRpc.ts). `requestText` is the original request, if it can
 * be used unchanged.
 */
type RunMethod = (method: string, params: readonly unknown[], requestText: string | undefined) => Promise<string>

/** Returns true for methods that may change something, so that the rest of a batch has to wait for them. */
type IsWrite = (method: string) => boolean

export interface Responder {
  run: RunMethod
  isWrite: IsWrite
}

/** Requests of a batch in flight at once. After each such group the length of the answers so far is known. */
const BATCH_STRIDE = 50

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

async function respondToBatch(responder: Responder, batch: readonly unknown[]): Promise<string | undefined> {
  const refusal = refuseBatch(batch)
  if (refusal !== undefined) return frame(null, errorAnswer(refusal))
  const bounded = boundAnswers(responder)
  const answers: Promise<string | undefined>[] = []
  for (const element of batch) {
    const writes = isWriteElement(responder.isWrite, element)
    // Reads run side by side. A write starts after everything before it, and finishes before everything after it.
    if (writes || answers.length % BATCH_STRIDE === 0) await Promise.all(answers)
    const answer = respondToOne(bounded, element, undefined)
    answers.push(answer)
    if (writes) await answer
  }
  const parts = (await Promise.all(answers)).filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : `[${parts.join(',')}]`
}

/** Limits the length of a batch's answers: a thousand long lists of logs don't fit in memory. */
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

/** Completes an answer with `jsonrpc` and `id`. */
export function frame(id: RequestId, answer: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer.slice(1)}`
}

type RequestId = string | number | null

/** A well-formed request. */
interface RpcRequest {
  /** Id of the request; undefined for a notification, which gets no answer. */
  id: RequestId | undefined
  method: string
  params: readonly unknown[]
  /** True when the request had an array of params, so that its text can go to EDR unchanged. */
  complete: boolean
}

const NO_PARAMS: readonly unknown[] = []

/** Checks one parsed element against JSON-RPC 2.0. Throws RpcError. */
function parseRequest(value: unknown): RpcRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidRequest('a request must be an object')
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  if (jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0"')
  if (typeof method !== 'string') throw invalidRequest('method must be a string')
  if (id !== undefined && !isRequestId(id)) throw invalidRequest('id must be a string, a number or null')
  if (params === undefined || params === null) return { id, method, params: NO_PARAMS, complete: false }
  if (!Array.isArray(params)) throw new RpcError(RPC_CODES.invalidParams, 'params must be an array')
  return { id, method, params, complete: true }
}

/** Returns the id for the answer to a malformed request: its own, if it has a valid one. */
function idOf(value: unknown): RequestId {
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return isRequestId(id) ? id : null
}

function isRequestId(id: unknown): id is RequestId {
  return id === null || typeof id === 'string' || typeof id === 'number'
}

function invalidRequest(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, `invalid request: ${message}`)
}

/** A method of the devnet beyond those of a chain. It throws RpcError for an error with a certain code. */
type ExtraMethod = (chain: LocalChain, params: readonly unknown[]) => unknown

/** Extra methods by name. They override a chain's own. */
export type ExtraMethods = Readonly<Record<string, ExtraMethod>>

/** Creates the responder of one chain. */
export function createResponder(chain: LocalChain, extra: ReadonlyMap<string, ExtraMethod>): Responder {
  return {
    isWrite: (method) => extra.has(method) || CHAIN_METHODS.has(method),
    run(method, params, requestText) {
      const ours = extra.get(method)
      return ours === undefined ? chain.answer(method, params, requestText) : runExtra(ours, chain, params)
    },
  }
}

async function runExtra(method: ExtraMethod, chain: LocalChain, params: readonly unknown[]): Promise<string> {
  try {
    return resultAnswer(await method(chain, params))
  } catch (error) {
    return errorAnswer(error)
  }
}
