import type { Address, OrderId } from '@bezel/protocol'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeOrderStatus } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { facadeOrders } from '../userOrders.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** Largest number of orders in an answer, the same as Hyperliquid's. */
const MAX_ORDERS = 2_000
const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** A user's last orders, newest first, each in its present state. */
export const historicalOrders = defineInfo<UserRequest, readonly FacadeOrderStatus[]>({
  parse: userRequest,
  answer: ({ user }, reads) => readHistoricalOrders(reads, user),
})

/** Reads a user's last orders. Throws `NOT_READY` until the follower has caught up with the chain. */
export async function readHistoricalOrders(reads: FacadeReads, user: Address): Promise<readonly FacadeOrderStatus[]> {
  reads.positionsOf(user)
  return facadeOrders(reads, await listOrders(reads.sql, reads.chain, user, AFTER_ALL, MAX_ORDERS))
}
