import { Counter, Gauge } from 'prom-client'
import type { RedisState } from '../access/sharing.ts'
import type { Metrics } from './createMetrics.ts'

const COUNTERS: readonly {
  readonly name: string
  readonly help: string
  readonly value: (redis: RedisState) => number
}[] = [
  { name: 'bezel_redis_requests_total', help: 'Commands sent to Redis.', value: (redis) => redis.counts().requests },
  {
    name: 'bezel_redis_failures_total',
    help: 'Commands that Redis did not answer or refused, and connections to it that were lost.',
    value: (redis) => redis.counts().failures,
  },
]

const GAUGES: readonly {
  readonly name: string
  readonly help: string
  readonly value: (redis: RedisState) => boolean
}[] = [
  {
    name: 'bezel_redis_up',
    help: '1 while Redis is used, 0 while this node counts limits for itself.',
    value: (redis) => redis.isUp(),
  },
  {
    name: 'bezel_redis_nonces_in_store',
    help: '1 while used nonces of reads are claimed in the database instead of Redis.',
    value: (redis) => redis.isOnStore(),
  },
]

/** Adds the metrics of the Redis that nodes share, read at each scrape. Call it once, where one is configured. */
export function watchRedis({ registry }: Metrics, redis: RedisState): void {
  for (const { name, help, value } of COUNTERS) {
    const counter: Counter = new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        counter.reset()
        counter.inc(value(redis))
      },
    })
  }
  for (const { name, help, value } of GAUGES) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: () => gauge.set(Number(value(redis))),
    })
  }
}
