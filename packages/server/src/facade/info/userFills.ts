import { MAX_INFO_ROWS, type RowMeter } from '../../access/weights.ts'
import { readFacadeFills, type FacadeFill, type HistoryRequest } from '../userFills.ts'
import { userRequest, type UserRequest, requiredTimeOf, timesRequest, type TimesRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

/** A user's last executions, newest first. */
export const userFills = defineInfo<UserRequest, readonly FacadeFill[]>({
  parse: userRequest,
  answer: keptList('userFills', ({ user }, reads, meter) =>
    readFacadeFills(reads, user, { limit: MAX_INFO_ROWS, from: 'newest', meter }),
  ),
})

/**
 * A user's executions between two times, oldest first. A client that wants more than one answer holds asks again from
 * the time of the last one. Each execution is complete, so `aggregateByTime` has nothing to do.
 */
export const userFillsByTime = defineInfo<TimesRequest, readonly FacadeFill[]>({
  parse: (body) => ({ ...timesRequest(body), sinceMs: requiredTimeOf(body, 'startTime') }),
  answer: keptList('userFillsByTime', (request, reads, meter) =>
    readFacadeFills(reads, request.user, betweenTimes(request, meter)),
  ),
})

/** Returns the part of a history that a request with times asks for: the first entries, oldest first. */
export function betweenTimes({ sinceMs, untilMs }: TimesRequest, meter: RowMeter): HistoryRequest {
  return { sinceMs, untilMs, limit: MAX_INFO_ROWS, from: 'oldest', meter }
}
