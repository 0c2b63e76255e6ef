import { timeOf, userOf, type InfoRequest } from './infoRequest.ts'

/** Funding is settled with the position and not by the hour, so there are no payments to list. */
export function userFunding(request: InfoRequest): unknown {
  userOf(request)
  timeOf(request, 'startTime')
  return []
}
