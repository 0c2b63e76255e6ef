import { readFundings, type FacadeFunding } from '../userLedger.ts'
import { timesRequest, type TimesRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'
import { betweenTimes } from './userFillsByTime.ts'

/**
 * A user's holding fees between two times, oldest first. They are realised when a position changes, not every hour, and
 * hold funding and borrowing.
 */
export const userFunding = defineInfo<TimesRequest, readonly FacadeFunding[]>({
  parse: timesRequest,
  answer: (request, reads) => betweenTimes(request, (since) => readFundings(reads, request.user, since)),
})
