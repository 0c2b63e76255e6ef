import { Ajv2020 } from 'ajv/dist/2020.js'
import { createAnswerChecker } from '../../packages/server/src/docs/openapi/answerChecker.ts'
import type { OpenapiDocument } from '../../packages/server/src/docs/openapi/openapiDocument.ts'
import type { FuzzRequest } from './dressRequest.ts'
import { MAX_SEGMENT_CHARS, type Operation, type Surface } from './surface.ts'
import type { RawAnswer } from './transport.ts'

/** The findings about an answer. */
export interface Verdict {
  /** The problems in words; empty when all is well. */
  readonly problems: readonly string[]
  readonly operation: Operation | undefined
  /** The parsed JSON, if any. */
  readonly body: unknown
}

export interface Judge {
  judge(request: FuzzRequest, answer: RawAnswer): Verdict
  /** Judges the answer to bytes that may not be a valid request. */
  judgeError(answer: RawAnswer): readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const JSON_TYPE = /^application\/json(?:;|$)/
const TEXT_TYPE = /^text\/plain(?:;|$)/
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/
/** Error codes of the router, given before the operation is known. */
const ROUTER_CODES: ReadonlySet<unknown> = new Set(['NOT_FOUND', 'VALIDATION_ERROR'])

/** Checks every answer against the document, and against a rule that no document can express: who may see what. */
export function createJudge(document: OpenapiDocument, surface: Surface): Judge {
  const checker = createAnswerChecker(document)
  const ajv = new Ajv2020({ strictTypes: false })
  ajv.addKeyword('components')
  const isError = ajv.compile({ $ref: '#/components/schemas/Error', components: document.components })

  function errorProblems(body: unknown): readonly string[] {
    return isError(body) ? [] : (isError.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  function contentProblems(request: FuzzRequest, { status, body: text }: RawAnswer, body: unknown): readonly string[] {
    const operation = surface.operationAt(request.method, request.target)
    if (request.method === 'HEAD') return text === '' ? [] : ['HEAD has a body']
    if (text !== '' && body === undefined) return ['is no JSON']
    // Bytes that are not HTTP belong to no operation.
    if (text.includes('The request is not valid HTTP.')) return errorProblems(body)
    // Errors of notifications and of the router have shapes of their own.
    if (request.target.startsWith('/api/notifications/') && status === 400) return notificationProblems(body)
    const isUnrouted = operation === undefined || (hasOddSegment(request.target) && codeOf(body) === 'NOT_FOUND')
    if (!isUnrouted) {
      // The router refuses a broken encoding on every path.
      if (status === 400 && isBrokenTarget(request.target)) return errorProblems(body)
      return checker.problems(operation.id, status, body)
    }
    if (!ROUTER_CODES.has(codeOf(body))) return [`there is no such operation, yet it answers ${status}`]
    return errorProblems(body)
  }

  return {
    judge(request, answer) {
      const operation = surface.operationAt(request.method, request.target)
      if (isPreflight(request) && answer.status === 204)
        return { problems: headProblems(request, answer), operation, body: undefined }
      if (isFacade(request.target, operation) && answer.status >= 400 && answer.status < 500)
        return {
          problems: [...headProblems(request, answer), ...textProblems(request, answer)],
          operation,
          body: undefined,
        }
      const body = parsed(answer.body)
      const type = answer.headers['content-type'] ?? ''
      const problems = [
        ...headProblems(request, answer),
        ...(JSON_TYPE.test(type) || isBodiless(answer) ? [] : [`its type is ${JSON.stringify(type)}`]),
        ...(answer.status >= 500 && answer.status !== 502 && answer.status !== 503 ? ['the service failed'] : []),
        ...(answer.status === 500 || body === undefined || !request.isRefused || answer.status >= 400
          ? []
          : ['it was answered to somebody who has no right']),
        ...contentProblems(request, answer, body),
        ...(operation?.isPrivate === true && answer.status < 300 ? ownerProblems(request, body) : []),
        ...(operation?.id === 'createOrder' && answer.status < 300 ? echoProblems(request.value, body) : []),
      ]
      return { problems, operation, body }
    },
    judgeError(answer) {
      const body = parsed(answer.body)
      return [
        ...(JSON_TYPE.test(answer.headers['content-type'] ?? '') ? [] : ['its type is not JSON']),
        ...(answer.headers['x-request-id'] === undefined ? ['it has no request id'] : []),
        ...(answer.status >= 500 ? ['the service failed'] : []),
        ...(answer.status >= 400 ? errorProblems(body) : body === undefined ? ['is no JSON'] : []),
      ]
    },
  }
}

/** True for the redirect of a browser, and for an answer that the client has already. */
function isBodiless({ status, body }: RawAnswer): boolean {
  return (status === 302 || status === 304) && body === ''
}

function notificationProblems(body: unknown): readonly string[] {
  const { error, message, success } = fieldsOf(body)
  const isOne = error === 'VALIDATION_ERROR' && typeof message === 'string' && success === false
  return isOne ? [] : ['it is no error of notifications']
}

/** Checks that a refusal of the facade is text: clients take any JSON for an answer of the exchange. */
function textProblems({ method }: FuzzRequest, { headers, body }: RawAnswer): readonly string[] {
  const type = headers['content-type'] ?? ''
  // Bytes that are not HTTP belong to no operation.
  if (body.includes('The request is not valid HTTP.')) return []
  return TEXT_TYPE.test(type) && (body !== '' || method === 'HEAD')
    ? []
    : [`a refusal of the facade has the type ${JSON.stringify(type)}`]
}

function isFacade(target: string, operation: Operation | undefined): boolean {
  return target.startsWith('/hl/') || operation?.id.startsWith('hl') === true
}

function headProblems(request: FuzzRequest, { headers }: RawAnswer): readonly string[] {
  const id = headers['x-request-id']
  if (typeof id !== 'string' || !REQUEST_ID.test(id)) return ['it has no request id']
  const asked = request.headers.find(([name]) => name === 'X-Request-Id')?.[1]
  return asked !== undefined && REQUEST_ID.test(asked) && id !== asked ? ['it has another request id'] : []
}

/** Checks that nobody sees another trader's orders and positions. */
function ownerProblems({ trader }: FuzzRequest, body: unknown): readonly string[] {
  const { data, order, position, address } = fieldsOf(body)
  const records = [body, order, position, ...(Array.isArray(data) ? data : [])].map(fieldsOf)
  const owners = [address, ...records.map((record) => record.trader)].filter((owner) => typeof owner === 'string')
  return owners.filter((owner) => owner.toLowerCase() !== trader).map((owner) => `it is of another trader, ${owner}`)
}

/** Checks that the prepared order has the terms that were asked for. */
function echoProblems(value: unknown, body: unknown): readonly string[] {
  if (value === undefined) return []
  const [asked, { order }] = [fieldsOf(value), fieldsOf(body)]
  const made = fieldsOf(order)
  return ['market', 'side', 'type', 'clientId', 'reduceOnly']
    .filter((name) => asked[name] !== undefined && asked[name] !== made[name])
    .map((name) => `asked ${name} ${JSON.stringify(asked[name])}, got ${JSON.stringify(made[name])}`)
}

function isPreflight({ method, headers }: FuzzRequest): boolean {
  return method === 'OPTIONS' && headers.some(([name]) => name === 'Access-Control-Request-Method')
}

/** True when the router does not take a segment for a parameter. */
function hasOddSegment(target: string): boolean {
  const segments = target.split(/[?#]/, 1)[0]!.split('/').slice(1)
  return segments.some((segment) => segment === '' || segment.length > MAX_SEGMENT_CHARS)
}

function isBrokenTarget(target: string): boolean {
  // A fragment is refused like a broken encoding.
  if (/[^\x21-\x7e]|#/.test(target)) return true
  try {
    decodeURIComponent(target.split(/[?#]/, 1)[0]!)
    return false
  } catch {
    return true
  }
}

function codeOf(body: unknown): unknown {
  return fieldsOf(body).code
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
