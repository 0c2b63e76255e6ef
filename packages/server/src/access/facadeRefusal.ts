import { MALFORMED_TEXT } from './malformedText.ts'
import type { ApiError } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'

/** Whether a path is one of the exchange-shaped facade. */
export function isFacadePath(url: string): boolean {
  return url.startsWith('/hl/')
}

/** Whether a request is for the exchange-shaped facade: by its route, however the path is encoded, or by its path where there is no route. */
export function isFacadeRequest({ url, routeOptions }: Pick<FastifyRequest, 'url' | 'routeOptions'>): boolean {
  return isFacadePath(url) || isFacadePath(routeOptions?.url ?? '')
}

/**
 * What a client of the facade is told of a request that was refused: plain text, because some clients read every JSON of such an answer as
 * the exchange's own and fail at ours. What can't be read is 422.
 */
export function facadeRefusal({ code, status, message }: ApiError): { readonly status: number; readonly text: string } {
  return code === 'VALIDATION_ERROR' ? { status: 422, text: MALFORMED_TEXT } : { status, text: message }
}
