import { ApiError } from '@bezel/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseStrictJson, StrictJsonError } from '../json/parseStrictJson.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A field, because a weak map costs every request more than reading its JSON. */
    rawBytes: Uint8Array | undefined
  }
}

const NO_BODY: Uint8Array = new Uint8Array(0)

/** The exact bytes of a request's body: what its signature is over. They are never written out again from what was parsed. */
export function rawBody(request: FastifyRequest): Uint8Array {
  return request.rawBytes ?? NO_BODY
}

/** JSON only, strictly read, with the bytes kept. */
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
