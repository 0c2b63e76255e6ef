import { ApiError } from '@bezel/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseStrictJson, StrictJsonError } from './json/parseStrictJson.ts'

const NO_BODY: Uint8Array = new Uint8Array(0)
const bodies = new WeakMap<FastifyRequest, Uint8Array>()

/** The exact bytes of a request's body: what its signature is over. They are never written out again from what was parsed. */
export function rawBody(request: FastifyRequest): Uint8Array {
  return bodies.get(request) ?? NO_BODY
}

/** JSON only, strictly read, with the bytes kept. */
export function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      bodies.set(request, bytes)
      return bytes.length === 0 ? undefined : parse(bytes)
    },
  )
}

function parse(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw new ApiError('VALIDATION_ERROR', error.message, { issues: [{ path: error.path, message: error.message }] })
  }
}
