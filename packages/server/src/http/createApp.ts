import { MAX_BODY_BYTES } from '../access/limits.ts'
import fastify from 'fastify'
import { LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isTraced, beginSpan, type LastingSpan } from '../ground/spans.ts'
import { isAnswerLogged, logAnswer, logSettings, operationOf, type LogPlace } from './answerLog.ts'
import { createRefusals, watchUnanswered, answerNotificationError, isNotificationsPath } from './errorAnswers.ts'
import { answerError, refuseUnknownRoute, requestIdOf, REQUEST_ID_HEADER } from '../access/answerError.ts'
import type { AddressInfo } from 'node:net'
import { httpUrl, StartupError } from '@bezel/protocol'

/** Connections that may wait to be accepted. Large, because after an outage all clients come back at once. */
const BACKLOG = 4_096

/** The longest part of a path: the label of an API key, each of its 64 characters in nine of percent-encoding. */
const MAX_PARAM_CHARS = 64 * 9

/** Time in which a whole request must arrive, so that slow senders can't hold connections for ever. */
const REQUEST_TIMEOUT_MS = 10_000

/**
 * The most bytes of a request's path and headers, and the most headers. Signed requests have about 500 bytes in 5
 * headers, browsers and proxies add about 2 KB in 30; the rest is for cookies of other services on the same domain.
 */
const MAX_HEAD_BYTES = 8_192
const MAX_HEADERS = 64

/** Interval between two looks for requests that are late. The timeout is kept only as exactly as this. */
const TIMEOUT_LOOK_MS = 500

/**
 * Creates the HTTP server without its routes: limits, request ids, the log, and one JSON shape for every error.
 */
export function createApp(logLevel: string, logPlace: LogPlace = {}): FastifyInstance {
  const areAnswersLogged = isAnswerLogged(logLevel)
  const app = fastify({
    logger: logSettings(logLevel, logPlace),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    // A logger per request costs more than most answers; each log line names its request itself.
    childLoggerFactory: (logger) => logger,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node answers a request without a Host header with an empty 400. This service has only one host, so it needs no
    // header.
    http: {
      requireHostHeader: false,
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_LOOK_MS,
    },
    // A request that reaches a closing service is still answered in the common shapes; its connection is closed
    // afterwards.
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false, useDefaults: false } },
    clientErrorHandler: createRefusals(() => performance.now()),
    frameworkErrors(error, request, reply) {
      const answer = isNotificationsPath(request.url) ? answerNotificationError : answerError
      answer(error, request, reply)
      // What the router refuses passes no hook.
      if (areAnswersLogged) logAnswer(request, reply)
    },
  })
  app.server.maxHeadersCount = MAX_HEADERS
  // An unknown `Expect` header is ignored, as HTTP allows; Node would answer it with an empty 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  watchUnanswered(app.server)
  app.addHook('onRequest', sendRequestId)
  app.decorateRequest('errorCode', undefined)
  if (isTraced()) traceRequests(app)
  if (areAnswersLogged) {
    app.addHook('onResponse', (request, reply, done) => {
      logAnswer(request, reply)
      done()
    })
  }
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(refuseUnknownRoute)
  return app
}

/**
 * Makes each request a span, which everything that is done for it is inside of. A client's `traceparent` is not read:
 * strangers would decide what is recorded. The request id leads from one to the other.
 */
function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, LastingSpan>()
  app.addHook('onRequest', (request, _reply, done) => {
    const span = beginSpan('request', { 'bezel.operation': operationOf(request), 'bezel.request_id': request.id })
    spans.set(request, span)
    span.within(done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply
    const code = request.errorCode === undefined ? {} : { 'bezel.code': request.errorCode }
    spans.get(request)?.end({ 'bezel.status': status, ...code }, status >= 500)
    done()
  })
}

/** Sends the request id with every answer, so that a user's report can be found in the log. */
function sendRequestId(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.header(REQUEST_ID_HEADER, request.id)
  done()
}

/** Starts listening and returns the URL. Throws a `StartupError` when the port is not available. */
export async function listen(app: FastifyInstance, at: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host: at.host, port: at.port, backlog: BACKLOG })
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, at)
  }
  const { port } = app.server.address() as AddressInfo
  return httpUrl(at.host, port)
}

function listenError(error: NodeJS.ErrnoException, at: { host: string; port: number }): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(`Port ${at.port} is in use: stop the program that has it or set PORT to another one.`)
    case 'EACCES':
      return new StartupError(`Port ${at.port} needs rights that this process lacks: set PORT to one above 1023.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartupError(`HOST is ${JSON.stringify(at.host)}, which is no address of this machine: correct it.`)
    default:
      return error
  }
}
