import type { OrderId } from '@bezel/protocol'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeOrderStatus } from '../facadeOrder.ts'
import { facadeOrders } from '../userOrders.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** Largest number of orders in an answer, the same as Hyperliquid's. */
const MAX_ORDERS = 2_000
const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** A user's last orders, newest first, each in its present state. */
export const historicalOrders = defineInfo<UserRequest, readonly FacadeOrderStatus[]>({
  parse: userRequest,
  async answer({ user }, reads) {
    // Throws `NOT_READY` until the follower has caught up with the chain.
    reads.positionsOf(user)
    return facadeOrders(reads, await listOrders(reads.sql, reads.chain, user, AFTER_ALL, MAX_ORDERS))
  },
})
