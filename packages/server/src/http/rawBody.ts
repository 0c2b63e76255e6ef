import { ApiError } from '@bezel/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseStrictJson, StrictJsonError } from '../json/parseStrictJson.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body. They are a field, because a weak map costs every request more than parsing its JSON. */
    rawBytes: Uint8Array | undefined
  }
}

const NO_BODY: Uint8Array = new Uint8Array(0)

/**
 * Returns the exact bytes of a request's body, which its signature covers. They are never serialised again from the
 * parsed value.
 */
export function rawBody(request: FastifyRequest): Uint8Array {
  return request.rawBytes ?? NO_BODY
}

/** Registers the only body parser: strict JSON, with the received bytes kept. */
export function registerBodyParser(app: FastifyInstance): void {
  app.decorateRequest('rawBytes', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    request.rawBytes = bytes
    let value: unknown
    try {
      if (bytes.length > 0) value = parse(bytes)
    } catch (error) {
      return done(error as Error)
    }
    done(null, value)
  })
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw new ApiError('VALIDATION_ERROR', error.message, { issues: [{ path: error.path, message: error.message }] })
  }
}
