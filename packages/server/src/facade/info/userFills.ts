import { readFacadeFills, type FacadeFill } from '../userFills.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** Largest number of fills in an answer, the same as Hyperliquid's. */
export const MAX_FILLS = 2_000

/** A user's last executions, newest first. */
export const userFills = defineInfo<UserRequest, readonly FacadeFill[]>({
  parse: userRequest,
  answer: ({ user }, reads) => readFacadeFills(reads, user, { sinceMs: 0, limit: MAX_FILLS }),
})
