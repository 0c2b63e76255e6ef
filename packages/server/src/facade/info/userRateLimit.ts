import type { FacadeReads } from '../facadeReads.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'

/** Limits are by the minute and the same for everybody; what is left of them is in the headers of every answer. */
export function userRateLimit(request: InfoRequest, { requestsPerMinute }: FacadeReads): unknown {
  userOf(request)
  return { cumVlm: '0.0', nRequestsUsed: 0, nRequestsCap: requestsPerMinute, nRequestsSurplus: 0 }
}
