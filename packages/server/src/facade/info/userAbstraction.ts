import { userOf, type InfoRequest } from './infoRequest.ts'

/** One account of one kind. */
export function userAbstraction(request: InfoRequest): unknown {
  userOf(request)
  return 'disabled'
}
