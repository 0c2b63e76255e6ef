import { readFacadeFills, type FacadeFill } from '../userFills.ts'
import { requiredTimeOf, timesRequest, type TimesRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'
import { MAX_FILLS } from './userFills.ts'

/**
 * A user's executions between two times, oldest first. A client that wants more than one answer holds asks again from
 * the time of the last one. Each execution is complete, so `aggregateByTime` has nothing to do.
 */
export const userFillsByTime = defineInfo<TimesRequest, readonly FacadeFill[]>({
  parse: (body) => ({ ...timesRequest(body), sinceMs: requiredTimeOf(body, 'startTime') }),
  answer: (request, reads) => betweenTimes(request, (since) => readFacadeFills(reads, request.user, since)),
})

/** Returns what `read` lists newest first, oldest first and within the times of a request. */
export async function betweenTimes<Told extends { readonly time: number }>(
  { sinceMs, untilMs }: TimesRequest,
  read: (since: { readonly sinceMs: number; readonly limit: number }) => Promise<readonly Told[]>,
): Promise<readonly Told[]> {
  const told = await read({ sinceMs, limit: Number.POSITIVE_INFINITY })
  return told
    .filter(({ time }) => time <= untilMs)
    .toReversed()
    .slice(0, MAX_FILLS)
}
