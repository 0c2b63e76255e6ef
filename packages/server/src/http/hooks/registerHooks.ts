import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, FastifyReply, RouteOptions } from 'fastify'
import { networkOfSocket } from '../../access/connections.ts'
import { ipBuckets, type Limits, sendLimitHeaders, type LimitAnswer, recordLimitAnswer } from '../../access/limits.ts'
import type { StoredNonces } from '../../access/nonces.ts'
import type { AuditOrigin } from '../../store/auditStore.ts'
import type { OverloadGuard } from '../../access/overload.ts'
import type { ChargeMore, WeightOf } from '../../access/weights.ts'
import { registerBodyParser } from '../rawBody.ts'
import { clientIp, networkOf, type IpAddress } from '../../access/ipAddress.ts'
import { AFTER_HEADER, COMMIT_HEADER, credentialHeaders } from '../../access/signatureHeaders.ts'
import { malformed, REQUEST_ID_HEADER } from '../../access/answerError.ts'
import { useUpNonces } from './noncesOfWrites.ts'

/** Paths that web pages of any origin may call: the interface itself, and none of the paths for operators. */
const OPEN_PATHS = /^\/(?:(?:v1|hl|api|health|ready|openapi\.json|asyncapi\.json)(?:[/?]|$)|\?|$)/

const METHODS = 'GET, HEAD, POST, PATCH, DELETE'

const EXPOSED = [
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'ETag',
  REQUEST_ID_HEADER,
]

/** Time for which a browser may cache the answer to a preflight. Chromium caps it at two hours. */
const PREFLIGHT_MAX_AGE_S = 7_200

/** The parts that the hooks of every request work with. */
export interface HooksContext {
  readonly limits: Limits
  /** Weight per minute of one IP. */
  readonly limit: number
  readonly trustedProxies: number
  readonly now: () => number
  /** Sheds anonymous requests. Left out: none are. */
  readonly overload?: OverloadGuard | undefined
  /** Nonces of writes in the store. Left out: the process remembers them itself. */
  readonly nonces?: Pick<StoredNonces, 'useUp'> | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Weight that the limits are charged for this request. */
    limitWeight: number
    /** Charges the request's IP for more than was known when it arrived. */
    chargeMore: ChargeMore
  }
  interface FastifyContextConfig {
    /** Weight of a request of this route that has a query. Left out: 1. */
    weightOf?: WeightOf | undefined
    /** True for a route that is shed first when there is too much work. */
    isAnonymous?: boolean
  }
}

/** Adds the hooks that every request passes, in this order. Private operations add their own after these. */
export function registerHooks(app: FastifyInstance, of: HooksContext): void {
  app.decorateRequest('limitAnswer', undefined)
  app.decorateRequest('limitWeight', 1)
  app.decorateRequest('chargeMore', function chargeMore(this: FastifyRequest, weight: number) {
    const answer = takeOfIp(of, this, weight)
    if (answer instanceof Promise) return answer.then((later) => recordLimitAnswer(this, later))
    recordLimitAnswer(this, answer)
  })
  app.addHook('onRequest', chargeIp(of))
  if (of.overload !== undefined) app.addHook('onRoute', shedAnonymous(of.overload))
  // Behind proxies the connection is the proxy's, and a request that never arrived does not say whose it was.
  if (of.trustedProxies === 0) app.server.on('clientError', chargeConnection(of))
  registerBodyParser(app)
  if (of.nonces?.useUp !== undefined) app.addHook('onSend', useUpNonces)
  app.addHook('onSend', sendLimitHeaders)
}

/**
 * Returns the network that a request came from, behind the configured number of proxies. It is the key of the limits by
 * IP.
 */
export function networkOfRequest(request: FastifyRequest, trustedProxies: number): string {
  return networkOf(ipOfRequest(request, trustedProxies))
}

/** Returns what the audit log keeps of a request. */
export function originOf(request: FastifyRequest, trustedProxies: number): AuditOrigin {
  return { callerIp: ipOfRequest(request, trustedProxies), requestId: request.id }
}

function ipOfRequest({ socket, headers }: FastifyRequest, trustedProxies: number): IpAddress {
  const { remoteAddress: socketAddress } = socket
  return clientIp({ socketAddress, forwardedFor: headers['x-forwarded-for'], trustedProxies })
}

/**
 * Returns the hook that charges the limit by IP, before anything else is read or computed for the request.
 */
function chargeIp(of: HooksContext) {
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void => {
    // A request without a query weighs 1. Asking each for its route would cost more than all the counting.
    if (request.raw.url?.includes('?') === true) {
      request.limitWeight = request.routeOptions.config.weightOf?.(queryOf(request), of.now()) ?? 1
    }
    const answer = takeOfIp(of, request, request.limitWeight)
    // Limits that are kept in this process answer synchronously; awaiting a promise would slow every request down.
    if (answer instanceof Promise) answer.then((later) => settle(request, later, done), done)
    else settle(request, answer, done)
  }
}

/**
 * Returns the listener that gives each anonymous route a hook of its own, after those of every request. Asking a
 * request for its route would cost more.
 */
function shedAnonymous(overload: OverloadGuard) {
  const admit = (_request: unknown, _reply: unknown, done: (error?: Error) => void): void => {
    try {
      overload.admit()
    } catch (error) {
      return done(error as Error)
    }
    done()
  }
  return (route: RouteOptions): void => {
    if (route.config?.isAnonymous === true) route.onRequest = [admit, ...[route.onRequest ?? []].flat()]
  }
}

/** Returns the listener that charges a connection whose request never arrived as a whole, or was no request. */
function chargeConnection({ limits, limit, now }: HooksContext) {
  return (_error: Error, socket: Pick<Socket, 'remoteAddress'>): void => {
    void limits.take(ipBuckets(networkOfSocket(socket), limit), now())
  }
}

function queryOf({ query }: FastifyRequest): Readonly<Record<string, unknown>> {
  return query as Readonly<Record<string, unknown>>
}

function takeOfIp(
  { limits, limit, trustedProxies, now }: HooksContext,
  request: FastifyRequest,
  weight: number,
): LimitAnswer | Promise<LimitAnswer> {
  return limits.take(ipBuckets(networkOfRequest(request, trustedProxies), limit), now(), weight)
}

function settle(request: FastifyRequest, answer: LimitAnswer, done: (error?: Error) => void): void {
  try {
    recordLimitAnswer(request, answer)
    // The router begins a query at a fragment too, which was not weighed. No client sends one.
    if (request.raw.url?.includes('#') === true) throw malformed('path', 'must have no fragment')
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
  const asked = [...credentialHeaders(headerPrefix), headerPrefix + AFTER_HEADER]
  const allowed = ['Content-Type', 'If-None-Match', REQUEST_ID_HEADER, ...asked].join(', ')
  const exposed = [...EXPOSED, headerPrefix + COMMIT_HEADER].join(', ')

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
      reply.header('Access-Control-Expose-Headers', exposed)
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
