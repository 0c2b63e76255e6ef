import { readLedgerUpdates, type FacadeLedgerUpdate } from '../userLedger.ts'
import { timesRequest, type TimesRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'
import { betweenTimes } from './userFillsByTime.ts'

/**
 * A user's costs between two times that belong to no execution, oldest first: refused orders, changes of leverage, and
 * what an end forfeited. There are no deposits, because collateral stays in the wallet until it is traded.
 */
export const userNonFundingLedgerUpdates = defineInfo<TimesRequest, readonly FacadeLedgerUpdate[]>({
  parse: timesRequest,
  answer: (request, reads) => betweenTimes(request, (since) => readLedgerUpdates(reads, request.user, since)),
})
