import { userOf, type InfoRequest } from './infoRequest.ts'

/** The wallet's USDC is told with the positions it backs; here it would count twice. */
export function spotClearinghouseState(request: InfoRequest): unknown {
  userOf(request)
  return { balances: [] }
}
