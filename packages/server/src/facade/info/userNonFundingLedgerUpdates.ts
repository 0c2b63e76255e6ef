import { userOf, type InfoRequest } from './infoRequest.ts'

/** Nothing is deposited here: collateral stays in the wallet until it is traded. */
export function userNonFundingLedgerUpdates(request: InfoRequest): unknown {
  userOf(request)
  return []
}
