import type { LimitScope, MetricsExposure } from '../settings/config.ts'
import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusedScopeOf } from '../access/limits.ts'
import { inSpan } from '../ground/spans.ts'
import type { Scope } from '../store/scope.ts'
import type { Store, StoreWatch } from '../store/sql.ts'
import { refuseUnknownRoute } from '../access/answerError.ts'
import { isLocalRequest } from '../access/localRequest.ts'
import { operationOf } from '../http/answerLog.ts'

/** The metrics for operators, in the text format of Prometheus. Each object has its own registry; nothing is global. */
export interface Metrics {
  readonly registry: Registry
  /** Counts one answered request. `operation` is its operation id, or `none` when no route matched. */
  answered(of: { readonly operation: string; readonly status: number; readonly elapsedMs: number }): void
  rateLimited(scope: LimitScope): void
  /** Counts one transaction of the store by its outcome. */
  transacted(outcome: 'committed' | 'rolled_back'): void
  /** Counts what the store does. */
  readonly store: Required<StoreWatch>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const times = createRequestTimes(registry)
  const refusals = new Counter({
    name: 'bezel_http_rate_limited_total',
    help: 'Requests refused because a limit was used up.',
    labelNames: ['scope'],
    registers,
  })
  const transactions = new Counter({
    name: 'bezel_store_transactions_total',
    help: 'Transactions of the store, by how they ended.',
    labelNames: ['outcome'],
    registers,
  })
  return {
    registry,
    answered: ({ operation, status, elapsedMs }) => times.add(operation, status, elapsedMs),
    rateLimited: (scope) => refusals.inc({ scope }),
    transacted: (outcome) => transactions.inc({ outcome }),
    store: createStoreCounts(registry),
  }
}

/** Creates the counters of what the store waits for and asks its server. */
function createStoreCounts(registry: Registry): Required<StoreWatch> {
  const registers = [registry]
  const trips = new Counter({
    name: 'bezel_store_round_trips_total',
    help: 'Round trips to PostgreSQL; 0 with SQLite, which is in the process.',
    registers,
  })
  const waits = new Counter({
    name: 'bezel_store_wait_seconds_total',
    help: 'Time for which transactions waited for their turn, a connection and their locks.',
    registers,
  })
  return {
    onBegun: (waitedMs) => waits.inc(waitedMs / 1000),
    onCommit: (ofTransaction) => trips.inc(ofTransaction),
    onRead: () => trips.inc(),
  }
}

/**
 * Counts every request after its answer. Label values come from the routes and never from the caller, so their number
 * is bounded.
 */
export function countAnswers(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done) => {
    const { statusCode: status, elapsedTime: elapsedMs } = reply
    metrics.answered({ operation: operationOf(request), status, elapsedMs })
    const scope = refusedScopeOf(request)
    if (scope !== undefined) metrics.rateLimited(scope)
    done()
  })
}

/** Wraps a store so that its transactions are counted, and are spans. */
export function countTransactions(store: Store, metrics: Metrics): Store {
  return {
    read: store.read,
    async transaction(scope, work) {
      try {
        const result = await inSpan('store', scopeAttributes(scope), () => store.transaction(scope, work))
        metrics.transacted('committed')
        return result
      } catch (error) {
        metrics.transacted('rolled_back')
        throw error
      }
    },
    close: () => store.close(),
  }
}

/** Returns what a span tells of a scope: not the trader. */
function scopeAttributes(scope: Scope): Record<string, string> {
  if ('name' in scope) return { 'bezel.scope': scope.name }
  return { 'bezel.scope': scope.trader === undefined ? 'chain' : 'trader', 'bezel.chain': scope.chain }
}

/** Serves GET /metrics for operators. Everybody else gets `NOT_FOUND`. */
export function serveMetrics(
  app: FastifyInstance,
  { metrics, exposure }: { readonly metrics: Metrics; readonly exposure: MetricsExposure },
): void {
  if (exposure === 'off') return
  app.get('/metrics', async (request, reply) => {
    if (exposure === 'loopback' && !isLocalRequest(request)) return refuseUnknownRoute(request)
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

/** Bounds of the histogram in seconds, from an answer out of memory to a write that waits for a slow node. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

const REQUESTS = 'bezel_http_requests_total'

const DURATION = 'bezel_http_request_duration_seconds'

interface OperationTimes {
  /** Number of answers by the first digit of their status. */
  readonly byClass: number[]
  /** Number of answers in each bucket alone; the last bucket has no upper bound. */
  readonly byBucket: number[]
  sumS: number
}

interface Value {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** Counts and times requests by operation. */
interface RequestTimes {
  add(operation: string, status: number, elapsedMs: number): void
}

/**
 * Creates the counters of requests. The library's own counters look up their labels by text each time, which costs more
 * than all other hooks of a request. So the numbers are kept by operation and turned into series when they are scraped.
 */
function createRequestTimes(registry: Registry): RequestTimes {
  const operations = new Map<string, OperationTimes>()

  function timesOf(operation: string): OperationTimes {
    const known = operations.get(operation)
    if (known !== undefined) return known
    const made = { byClass: [0, 0, 0, 0, 0, 0], byBucket: [...BUCKETS_S, 0].map(() => 0), sumS: 0 }
    operations.set(operation, made)
    return made
  }

  const series = (name: string, type: string, help: string, valuesOf: (entry: [string, OperationTimes]) => Value[]) => {
    const get = async () => ({ name, type, help, aggregator: 'sum', values: [...operations].flatMap(valuesOf) })
    registry.registerMetric({ name, type, help, get } as never)
  }
  series(REQUESTS, 'counter', 'Answered requests, by operation and class of status.', requestValues)
  series(DURATION, 'histogram', 'From the first byte of a request to the end of its answer.', durationValues)

  return {
    add(operation, status, elapsedMs) {
      const times = timesOf(operation)
      const seconds = elapsedMs / 1000
      times.byClass[Math.floor(status / 100)]! += 1
      times.byBucket[bucketOf(seconds)]! += 1
      times.sumS += seconds
    },
  }
}

function bucketOf(seconds: number): number {
  let at = 0
  while (at < BUCKETS_S.length && seconds > BUCKETS_S[at]!) at += 1
  return at
}

function requestValues([operation, { byClass }]: [string, OperationTimes]): Value[] {
  return byClass.flatMap((value, digit) =>
    value === 0 ? [] : [{ labels: { operation, status: `${digit}xx` }, value }],
  )
}

/** Returns the histogram of an operation. Prometheus buckets are cumulative: each includes all smaller ones. */
function durationValues([operation, { byBucket, sumS }]: [string, OperationTimes]): Value[] {
  let count = 0
  const buckets = byBucket.map((inBucket, at): Value => {
    count += inBucket
    return { metricName: `${DURATION}_bucket`, labels: { operation, le: BUCKETS_S[at] ?? '+Inf' }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${DURATION}_sum`, labels: { operation }, value: sumS },
    { metricName: `${DURATION}_count`, labels: { operation }, value: count },
  ]
}
