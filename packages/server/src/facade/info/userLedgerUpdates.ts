import { readFundings, readLedgerUpdates, type FacadeFunding, type FacadeLedgerUpdate } from '../userLedger.ts'
import { timesRequest, type TimesRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'
import { betweenTimes } from './userFills.ts'

/**
 * A user's holding fees between two times, oldest first. They are realised when a position changes, not every hour, and
 * hold funding and borrowing.
 */
export const userFunding = defineInfo<TimesRequest, readonly FacadeFunding[]>({
  parse: timesRequest,
  answer: keptList('userFunding', (request, reads, meter) =>
    readFundings(reads, request.user, betweenTimes(request, meter)),
  ),
})

/**
 * A user's costs between two times that belong to no execution, oldest first: refused orders, changes of leverage, and
 * what an end forfeited. There are no deposits, because collateral stays in the wallet until it is traded.
 */
export const userNonFundingLedgerUpdates = defineInfo<TimesRequest, readonly FacadeLedgerUpdate[]>({
  parse: timesRequest,
  answer: keptList('userNonFundingLedgerUpdates', (request, reads, meter) =>
    readLedgerUpdates(reads, request.user, betweenTimes(request, meter)),
  ),
})
