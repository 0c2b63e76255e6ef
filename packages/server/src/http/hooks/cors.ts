import { credentialHeaders } from '../../access/credentialHeaders.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { REQUEST_ID_HEADER } from '../../access/requestId.ts'

/** What pages of any origin may use: the interface itself, and nothing for operators. */
const OPEN_PATHS = /^\/(?:v1|hl|api|health|ready|openapi\.json|asyncapi\.json)(?:[/?]|$)/

const METHODS = 'GET, HEAD, POST, PATCH, DELETE'
const EXPOSED = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', REQUEST_ID_HEADER].join(
  ', ',
)

/** As long as browsers keep it at all. */
const PREFLIGHT_MAX_AGE_S = 7_200

/**
 * Lets pages of every origin call the interface. That is safe because nothing a browser sends by itself has any meaning here: there are no
 * cookies, and credentials are headers that a page must have the key for, each signature good for one request. So a foreign page can
 * do no more than its own author could with the same keys from anywhere else.
 *
 * To be registered behind the hook that charges the IP: a preflight costs what every request costs, and its answer says what is left.
 */
export function allowOrigins(app: FastifyInstance, { headerPrefix }: { readonly headerPrefix: string }): void {
  const allowed = ['Content-Type', REQUEST_ID_HEADER, ...credentialHeaders(headerPrefix)].join(', ')

  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    if (!isPreflight(request)) return done()
    reply.header('Access-Control-Allow-Methods', METHODS)
    reply.header('Access-Control-Allow-Headers', allowed)
    reply.header('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_S)
    reply.code(204).send()
  })

  // On errors too, the refusals of limits among them: otherwise a page could not even read why it was refused.
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, _payload, done) => {
    if (OPEN_PATHS.test(request.url)) {
      reply.header('Access-Control-Allow-Origin', '*')
      reply.header('Access-Control-Expose-Headers', EXPOSED)
    }
    done()
  })
}

/** Any other OPTIONS is a method like any that a path does not have. */
function isPreflight({ method, headers, url }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && OPEN_PATHS.test(url)
}
