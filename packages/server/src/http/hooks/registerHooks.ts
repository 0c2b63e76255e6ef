import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify'
import { type Limits, sendLimitHeaders, type LimitAnswer, recordLimitAnswer } from '../../access/limits.ts'
import { registerBodyParser } from '../rawBody.ts'
import { clientIp, networkOf } from '../../access/ipAddress.ts'
import { credentialHeaders } from '../../access/signatureHeaders.ts'
import { REQUEST_ID_HEADER } from '../../access/answerError.ts'

/** Paths that web pages of any origin may call: the interface itself, and none of the paths for operators. */
const OPEN_PATHS = /^\/(?:v1|hl|api|health|ready|openapi\.json|asyncapi\.json)(?:[/?]|$)/

const METHODS = 'GET, HEAD, POST, PATCH, DELETE'

const EXPOSED = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', REQUEST_ID_HEADER].join(
  ', ',
)

/** Time for which a browser may cache the answer to a preflight. Chromium caps it at two hours. */
const PREFLIGHT_MAX_AGE_S = 7_200

/** Adds the hooks that every request passes, in this order. Private operations add their own after these. */
export function registerHooks(
  app: FastifyInstance,
  of: { readonly limits: Limits; readonly limit: number; readonly trustedProxies: number; readonly now: () => number },
): void {
  app.decorateRequest('limitAnswer', undefined)
  app.addHook('onRequest', chargeIp(of))
  registerBodyParser(app)
  app.addHook('onSend', sendLimitHeaders)
}

/**
 * Returns the network that a request came from, behind the configured number of proxies. It is the key of the limits by
 * IP.
 */
export function networkOfRequest(request: FastifyRequest, trustedProxies: number): string {
  const socketAddress = request.socket.remoteAddress
  return networkOf(clientIp({ socketAddress, forwardedFor: request.headers['x-forwarded-for'], trustedProxies }))
}

/** Returns the hook that charges the limit by IP, before anything else is read or computed for the request. */
function chargeIp(of: { limits: Limits; limit: number; trustedProxies: number; now: () => number }) {
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void => {
    const key = networkOfRequest(request, of.trustedProxies)
    const answer = of.limits.take([{ scope: 'ip', key, limit: of.limit }], of.now())
    // Limits that are kept in this process answer synchronously; awaiting a promise would slow every request down.
    if (answer instanceof Promise) answer.then((later) => settle(request, later, done), done)
    else settle(request, answer, done)
  }
}

function settle(request: FastifyRequest, answer: LimitAnswer, done: (error?: Error) => void): void {
  try {
    recordLimitAnswer(request, answer)
  } catch (error) {
    return done(error as Error)
  }
  done()
}

/**
 * Adds the CORS headers, so that web pages of every origin can call the interface. That is safe because nothing that a
 * browser sends by itself has any meaning here: there are no cookies, and credentials are headers that a page must have
 * the key for, each signature good for one request. So a foreign page can do no more than its own author could do with
 * the same keys from anywhere else.
 *
 * Register it after the hook that charges the IP: a preflight is charged like every request, and its answer carries the
 * limit headers.
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

  // Errors get these headers too, including those of the limits: otherwise a page could not read why it was refused.
  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, _payload, done) => {
    if (OPEN_PATHS.test(request.url)) {
      reply.header('Access-Control-Allow-Origin', '*')
      reply.header('Access-Control-Expose-Headers', EXPOSED)
    }
    done()
  })
}

/**
 * True for a CORS preflight of an open path. Any other OPTIONS request is answered like any method that the path lacks.
 */
function isPreflight({ method, headers, url }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && OPEN_PATHS.test(url)
}
