import { coinsOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { coinNameOf, timeOf, type InfoRequest } from './infoRequest.ts'

/** Past rates are not kept. `null` for an unknown coin. */
export function fundingHistory(request: InfoRequest, reads: FacadeReads): unknown {
  const name = coinNameOf(request)
  timeOf(request, 'startTime')
  return coinsOf(reads.markets()).named(name) === undefined ? null : []
}
