import { userOf, type InfoRequest } from './infoRequest.ts'

/** There are none. */
export function subAccounts(request: InfoRequest): unknown {
  userOf(request)
  return null
}
