import { userOf, type InfoRequest } from './infoRequest.ts'

/** Builders are paid nothing here. */
export function maxBuilderFee(request: InfoRequest): unknown {
  userOf(request)
  return 0
}
