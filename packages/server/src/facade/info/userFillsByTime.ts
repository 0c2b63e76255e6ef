import type { FacadeReads } from '../facadeReads.ts'
import { readFacadeFills } from '../userFills.ts'
import { requiredTimeOf, timeOf, userOf, type InfoRequest } from './infoRequest.ts'
import { MAX_FILLS } from './userFills.ts'

/**
 * A trader's executions between two times, oldest first: who wants more than one answer holds asks again from the time of the last. Each
 * execution is whole, so there is nothing to aggregate.
 */
export async function userFillsByTime(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const trader = userOf(request)
  const sinceMs = requiredTimeOf(request, 'startTime')
  const untilMs = timeOf(request, 'endTime') ?? Number.POSITIVE_INFINITY
  const fills = await readFacadeFills(reads, trader, { sinceMs, limit: Number.POSITIVE_INFINITY })
  return fills
    .filter(({ time }) => time <= untilMs)
    .toReversed()
    .slice(0, MAX_FILLS)
}
