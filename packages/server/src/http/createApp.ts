import process from 'node:process'
import fastify, { LogController, type FastifyInstance } from 'fastify'
import { answerClientError } from './answerClientError.ts'
import { answerError } from './answerError.ts'
import { requestIdOf } from './requestId.ts'
import { logAnswer } from './hooks/logAnswer.ts'
import { refuseUnknownRoute } from './refuseUnknownRoute.ts'
import { sendRequestId } from './hooks/sendRequestId.ts'

/** Larger bodies are refused before they are read to the end. */
export const MAX_BODY_BYTES = 64 * 1024

/** A whole request must have arrived in this time, so that slow senders can't hold connections for ever. */
const REQUEST_TIMEOUT_MS = 10_000

/** The HTTP server without its routes: limits, ids, logs to stderr, and one JSON shape for every error. */
export function createApp(logLevel: string): FastifyInstance {
  const app = fastify({
    logger: { level: logLevel, stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A request that reaches a closing service is still answered, in our own shapes; its connection is closed after it.
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    clientErrorHandler: answerClientError,
    frameworkErrors: answerError,
  })
  app.addHook('onRequest', sendRequestId)
  app.addHook('onResponse', logAnswer)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(refuseUnknownRoute)
  return app
}
