import { StoreUnavailableError, NodeUnavailableError } from '../ground/unavailable.ts'
import { ApiError } from '@bezel/protocol'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { facadeRefusal, isFacadeRequest } from './facadeRefusal.ts'
import { unknownRoute } from './refuseUnknownRoute.ts'
import { REQUEST_ID_HEADER } from './requestId.ts'
import { validationIssues } from './validationIssues.ts'

/** What is not ready mostly is within moments. */
const NOT_READY_RETRY_S = 1

/** What the framework says of these quotes the path back, all of it: it is the caller's text. */
const PATH_FAULTS: ReadonlySet<string> = new Set(['FST_ERR_BAD_URL', 'FST_ERR_MAX_PARAM_LENGTH'])

/** Turns whatever a request threw into the one JSON shape of errors; what is refused under the facade is plain text. */
export function answerError(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): void {
  const apiError = refusalOf(error, request)
  // Set here too: an error of the router itself comes before any hook.
  reply.header(REQUEST_ID_HEADER, request.id)
  if (apiError.code === 'NOT_READY') reply.header('retry-after', NOT_READY_RETRY_S)
  if (apiError.status < 500 && isFacadeRequest(request)) {
    const { status, text } = facadeRefusal(apiError)
    reply.code(status).type('text/plain; charset=utf-8').send(text)
    return
  }
  reply.code(apiError.status).type('application/json; charset=utf-8').send(JSON.stringify(apiError.toBody()))
}

/** What the client is told of whatever a request threw; what is our fault is logged. */
export function refusalOf(error: FastifyError | ApiError, request: FastifyRequest): ApiError {
  const apiError = routedError(error, request)
  if (apiError.code === 'INTERNAL') request.log.error({ requestId: request.id, err: error }, 'request failed')
  else if (!(error instanceof ApiError) && apiError.status >= 500)
    request.log.warn({ requestId: request.id, err: error }, 'request refused')
  return apiError
}

/** What a body lacks is of no interest where nothing takes one. */
function routedError(error: FastifyError | ApiError, request: FastifyRequest): ApiError {
  const apiError = toApiError(error, request.id)
  const isOfBody = apiError.code === 'VALIDATION_ERROR' && !PATH_FAULTS.has(error.code)
  return request.is404 && isOfBody ? unknownRoute(request) : apiError
}

export function toApiError(error: FastifyError | ApiError, requestId: string): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof NodeUnavailableError) {
    return new ApiError('UPSTREAM_UNAVAILABLE', "The chain's node did not answer. Retry.")
  }
  if (error instanceof StoreUnavailableError) {
    return new ApiError('NOT_READY', 'The store can not take data now. Retry.', { reason: 'store_unavailable' })
  }
  if (error.validation !== undefined) return validationError(error)
  if (PATH_FAULTS.has(error.code)) return new ApiError('VALIDATION_ERROR', 'The path is too long or wrongly encoded.')
  const isClientFault = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
  if (isClientFault) return new ApiError('VALIDATION_ERROR', error.message)
  return new ApiError('INTERNAL', `The service failed at this request; please report it with its id ${requestId}.`)
}

function validationError(error: FastifyError): ApiError {
  const issues = validationIssues(error.validation ?? [], error.validationContext ?? 'request')
  const [first] = issues
  const message = first === undefined ? error.message : `${first.path} ${first.message}.`
  return new ApiError('VALIDATION_ERROR', message, { issues })
}
