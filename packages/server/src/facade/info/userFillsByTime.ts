import { readFacadeFills, type FacadeFill } from '../userFills.ts'
import { requiredTimeOf, timeOf, userOf, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'
import { MAX_FILLS } from './userFills.ts'

interface UserFillsByTimeRequest extends UserRequest {
  readonly sinceMs: number
  /** The last millisecond that is included. Default: no end. */
  readonly untilMs: number
}

/**
 * A user's executions between two times, oldest first. A client that wants more than one answer holds asks again from
 * the time of the last one. Each execution is complete, so `aggregateByTime` has nothing to do.
 */
export const userFillsByTime = defineInfo<UserFillsByTimeRequest, readonly FacadeFill[]>({
  parse: (body) => ({
    user: userOf(body),
    sinceMs: requiredTimeOf(body, 'startTime'),
    untilMs: timeOf(body, 'endTime') ?? Number.POSITIVE_INFINITY,
  }),
  async answer({ user, sinceMs, untilMs }, reads) {
    const fills = await readFacadeFills(reads, user, { sinceMs, limit: Number.POSITIVE_INFINITY })
    return fills
      .filter(({ time }) => time <= untilMs)
      .toReversed()
      .slice(0, MAX_FILLS)
  },
})
