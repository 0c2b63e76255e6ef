import type { OrderId } from '@bezel/protocol'
import { listOrders } from '../../store/orderStore.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { facadeOrders } from '../userOrders.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'

/** As many as the exchange itself tells. */
const MAX_ORDERS = 2_000
const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** A trader's last orders, newest first, each as it stands now. */
export async function historicalOrders(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const trader = userOf(request)
  reads.positionsOf(trader)
  return facadeOrders(reads, await listOrders(reads.sql, reads.chain, trader, AFTER_ALL, MAX_ORDERS))
}
