import { ApiError } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'

/** No such path, or not with this method. */
export function refuseUnknownRoute(request: FastifyRequest): never {
  throw unknownRoute(request)
}

/** The path is not quoted back: it is the caller's text. */
export function unknownRoute({ method }: FastifyRequest): ApiError {
  return new ApiError('NOT_FOUND', `There is no such route for ${method}.`)
}
