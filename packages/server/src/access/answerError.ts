import { StoreUnavailableError, NodeUnavailableError } from '../ground/unavailable.ts'
import { ApiError, type ErrorCode } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { MAX_BODY_BYTES } from './limits.ts'
import { validationIssues } from './validationIssues.ts'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

declare module 'fastify' {
  interface FastifyRequest {
    /** Code of the error that the request was answered with, for the log. */
    errorCode: ErrorCode | undefined
  }
}

export const REQUEST_ID_HEADER = 'x-request-id'

/** Request ids that are accepted from a caller. Narrow, because the id is echoed in a header and written to the log. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/

/** `Retry-After` of `NOT_READY`, in seconds: most causes pass within moments. */
const NOT_READY_RETRY_S = 1

/**
 * The faults that the framework finds before a body is parsed, as issues: a path and a message. Its own messages quote
 * the caller's text, which is not sent back.
 */
const FAULTS: Readonly<Record<string, readonly [path: string, message: string]>> = {
  FST_ERR_BAD_URL: ['path', 'is wrongly encoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['path', 'is too long'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['headers.Content-Type', 'must be application/json'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body', `has more than ${MAX_BODY_BYTES} bytes`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['headers.Content-Length', 'is not the length of the body'],
}

/** The text with which Hyperliquid answers every request that it can't parse; clients know it. */
export const MALFORMED_TEXT = 'Failed to deserialize the JSON body into the target type'

/**
 * Answers any error of a request in the one JSON shape of errors. Refusals (status below 500) under the facade are
 * plain text.
 */
export function answerError(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): void {
  const apiError = refusalOf(error, request)
  // Set here too, because an error of the router itself comes before any hook.
  reply.header(REQUEST_ID_HEADER, request.id)
  if (apiError.status < 500 && isFacadeRequest(request)) {
    const { status, text } = facadeRefusal(apiError)
    reply.code(status).type('text/plain; charset=utf-8').send(text)
    return
  }
  reply.send(errorPayload(apiError, request, reply))
}

/** Makes a reply that of an error, in the one JSON shape of errors, and returns the text to send. */
export function errorPayload(error: ApiError, request: FastifyRequest, reply: FastifyReply): string {
  request.errorCode = error.code
  if (error.code === 'NOT_READY') reply.header('retry-after', NOT_READY_RETRY_S)
  reply.code(error.status).type('application/json; charset=utf-8')
  return JSON.stringify(error.toBody(request.id))
}

/** Returns the error that the client gets for anything a request threw, and logs it when the fault is the service's. */
export function refusalOf(error: FastifyError | ApiError, request: FastifyRequest): ApiError {
  const apiError = routedError(error, request)
  request.errorCode = apiError.code
  if (apiError.code === 'INTERNAL') request.log.error({ requestId: request.id, err: error }, 'request failed')
  else if (!(error instanceof ApiError) && apiError.status >= 500)
    request.log.warn({ requestId: request.id, err: error }, 'request refused')
  return apiError
}

/** Replaces an error about the body with `NOT_FOUND` when no route matches the request. */
function routedError(error: FastifyError | ApiError, request: FastifyRequest): ApiError {
  const apiError = toApiError(error, request.id, request)
  const isOfBody = apiError.code === 'VALIDATION_ERROR' && FAULTS[error.code]?.[0] !== 'path'
  return request.is404 && isOfBody ? unknownRoute(request) : apiError
}

export function toApiError(
  error: FastifyError | ApiError,
  requestId: string,
  request?: Pick<FastifyRequest, 'routeOptions' | 'body'>,
): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof NodeUnavailableError) {
    return new ApiError('UPSTREAM_UNAVAILABLE', "The chain's node did not answer. Retry.")
  }
  if (error instanceof StoreUnavailableError) {
    return new ApiError('NOT_READY', 'The store can not take data now. Retry.', { reason: 'store_unavailable' })
  }
  if (error.validation !== undefined) return validationError(error, request)
  const isClientFault = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
  if (isClientFault) return malformed(...(FAULTS[error.code] ?? (['request', 'is not valid'] as const)))
  return new ApiError('INTERNAL', `The service failed at this request; please report it with its id ${requestId}.`)
}

/** Returns the error for one fault of a request. */
export function malformed(path: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `${path} ${message}.`, { issues: [{ path, message }] })
}

/** Returns the error for a body that breaks its schema. The framework itself stops at the first fault. */
function validationError(error: FastifyError, request?: Pick<FastifyRequest, 'routeOptions' | 'body'>): ApiError {
  const schema = request?.routeOptions.schema?.body as TSchema | undefined
  const issues = schema === undefined ? [] : validationIssues(schema, request?.body, 'body')
  const [first] = issues
  const message = first === undefined ? error.message : `${first.path} ${first.message}.`
  return new ApiError('VALIDATION_ERROR', message, { issues })
}

/** Throws `NOT_FOUND`: the path does not exist, or not with this method. */
export function refuseUnknownRoute(request: FastifyRequest): never {
  throw unknownRoute(request)
}

/** The message does not quote the path, because that is the caller's text. */
function unknownRoute({ method }: FastifyRequest): ApiError {
  return new ApiError('NOT_FOUND', `There is no such route for ${method}.`)
}

/** True for a path of the exchange-shaped facade. */
export function isFacadePath(url: string): boolean {
  return url.startsWith('/hl/')
}

/**
 * True for a request to the exchange-shaped facade. The route is compared too, because a path may be percent-encoded;
 * without a route only the path tells.
 */
function isFacadeRequest({ url, routeOptions }: Pick<FastifyRequest, 'url' | 'routeOptions'>): boolean {
  return isFacadePath(url) || isFacadePath(routeOptions?.url ?? '')
}

/**
 * Returns the refusal for a client of the facade. It is plain text, because some clients read every JSON answer as the
 * exchange's own and fail at this service's shape. A malformed request is 422, as on the exchange.
 */
export function facadeRefusal({ code, status, message }: ApiError): { readonly status: number; readonly text: string } {
  return code === 'VALIDATION_ERROR' ? { status: 422, text: MALFORMED_TEXT } : { status, text: message }
}

/** Returns the caller's own request id when it is well-formed, else a fresh one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers[REQUEST_ID_HEADER]
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : randomUUID()
}
