import type { FacadeReads } from '../facadeReads.ts'
import { readFacadeFills } from '../userFills.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'

/** As many as the exchange itself tells. */
export const MAX_FILLS = 2_000

/** A trader's last executions, newest first. */
export async function userFills(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  return readFacadeFills(reads, userOf(request), { sinceMs: 0, limit: MAX_FILLS })
}
