import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { LimitScope } from '../cluster/limits.ts'

/** What an operator watches, in the text format of Prometheus. Each object has a registry of its own: nothing is global. */
export interface Metrics {
  readonly registry: Registry
  /** Of one request. `operation` is its operation id, or `none` where no route was found. */
  answered(of: { readonly operation: string; readonly status: number; readonly elapsedMs: number }): void
  rateLimited(scope: LimitScope): void
  /** One transaction of the store, by how it ended. */
  transacted(outcome: 'committed' | 'rolled_back'): void
}

/** From what memory answers to what a slow node makes of a write. */
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'bezel_http_requests_total',
    help: 'Answered requests, by operation and class of status.',
    labelNames: ['operation', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'bezel_http_request_duration_seconds',
    help: 'From the first byte of a request to the end of its answer.',
    labelNames: ['operation'],
    buckets: DURATION_BUCKETS_S,
    registers,
  })
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
    answered({ operation, status, elapsedMs }) {
      requests.inc({ operation, status: `${Math.floor(status / 100)}xx` })
      durations.observe({ operation }, elapsedMs / 1000)
    },
    rateLimited: (scope) => refusals.inc({ scope }),
    transacted: (outcome) => transactions.inc({ outcome }),
  }
}
