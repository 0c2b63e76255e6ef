import type { Registry } from 'prom-client'

/** From what memory answers to what a slow node makes of a write. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

const REQUESTS = 'bezel_http_requests_total'
const DURATION = 'bezel_http_request_duration_seconds'

interface OperationTimes {
  /** By the first digit of the status. */
  readonly byClass: number[]
  /** Of each bucket alone, the last one without a bound. */
  readonly byBucket: number[]
  sumS: number
}

interface Value {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** Counts and times requests by operation. */
export interface RequestTimes {
  add(operation: string, status: number, elapsedMs: number): void
}

/**
 * Every request passes here, and the library's own counters look their labels up by text each time, which costs more than the hooks of a
 * request together. So the numbers are kept by operation and made into its series when somebody scrapes.
 */
export function createRequestTimes(registry: Registry): RequestTimes {
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

/** Buckets are told as sums of all that are not larger. */
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
