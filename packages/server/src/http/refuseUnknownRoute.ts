import { ApiError } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'

/** No such path, or not with this method. The path is not quoted back: it is the caller's text. */
export function refuseUnknownRoute(request: FastifyRequest): never {
  throw new ApiError('NOT_FOUND', `There is no such route for ${request.method}.`)
}
