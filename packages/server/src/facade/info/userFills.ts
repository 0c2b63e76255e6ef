import { MAX_INFO_ROWS } from '../../access/weights.ts'
import { readFacadeFills, type FacadeFill } from '../userFills.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

/** A user's last executions, newest first. */
export const userFills = defineInfo<UserRequest, readonly FacadeFill[]>({
  parse: userRequest,
  answer: keptList('userFills', ({ user }, reads, meter) =>
    readFacadeFills(reads, user, { limit: MAX_INFO_ROWS, from: 'newest', meter }),
  ),
})
