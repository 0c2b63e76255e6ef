import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusedScopeOf } from '../access/limitAnswers.ts'
import type { Metrics } from './createMetrics.ts'

/** Counts every request after its answer. Label values come from the routes and never from the caller, so their number is bounded. */
export function countAnswers(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done) => {
    const { statusCode: status, elapsedTime: elapsedMs } = reply
    metrics.answered({ operation: operationOf(request), status, elapsedMs })
    const scope = refusedScopeOf(request)
    if (scope !== undefined) metrics.rateLimited(scope)
    done()
  })
}

function operationOf({ routeOptions }: FastifyRequest): string {
  const { operationId } = (routeOptions.schema ?? {}) as { operationId?: string }
  return operationId ?? 'none'
}
