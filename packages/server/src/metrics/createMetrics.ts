import type { LimitScope } from '../settings/config.ts'
import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import { createRequestTimes } from './requestTimes.ts'

/** What an operator watches, in the text format of Prometheus. Each object has a registry of its own: nothing is global. */
export interface Metrics {
  readonly registry: Registry
  /** Of one request. `operation` is its operation id, or `none` where no route was found. */
  answered(of: { readonly operation: string; readonly status: number; readonly elapsedMs: number }): void
  rateLimited(scope: LimitScope): void
  /** One transaction of the store, by how it ended. */
  transacted(outcome: 'committed' | 'rolled_back'): void
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
  }
}
