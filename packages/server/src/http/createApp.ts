import { MAX_BODY_BYTES } from '../access/maxBodyBytes.ts'
import process from 'node:process'
import fastify, { LogController, type FastifyInstance } from 'fastify'
import { answerClientError } from './answerClientError.ts'
import { answerError } from '../access/answerError.ts'
import { requestIdOf } from '../access/requestId.ts'
import { answerNotificationError, isNotificationsPath } from './routes/notifications/answerNotificationError.ts'
import { logAnswer } from './hooks/logAnswer.ts'
import { refuseUnknownRoute } from '../access/refuseUnknownRoute.ts'
import { sendRequestId } from './hooks/sendRequestId.ts'
import { watchUnanswered } from '../access/unanswered.ts'

/** A whole request must have arrived in this time, so that slow senders can't hold connections for ever. */
const REQUEST_TIMEOUT_MS = 10_000

/** The HTTP server without its routes: limits, ids, logs to stderr, and one JSON shape for every error. */
export function createApp(logLevel: string): FastifyInstance {
  const app = fastify({
    logger: { level: logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    // A logger per request costs more than most answers; the lines that are written name the request themselves.
    childLoggerFactory: (logger) => logger,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node refuses a missing Host by itself, with an empty answer; here it needs none, as there is only one to serve.
    http: { requireHostHeader: false },
    // A request that reaches a closing service is still answered, in our own shapes; its connection is closed after it.
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) =>
      (isNotificationsPath(request.url) ? answerNotificationError : answerError)(error, request, reply),
  })
  // An expectation that nobody knows may be passed over; Node's own answer to it would be an empty one.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  watchUnanswered(app.server)
  app.addHook('onRequest', sendRequestId)
  app.addHook('onResponse', logAnswer)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(refuseUnknownRoute)
  return app
}
