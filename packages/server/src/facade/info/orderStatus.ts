import { parseOrderId, type Address, type OrderId } from '@bezel/protocol'
import { readCloid } from '../../store/facadeCloidStore.ts'
import { findOrder, findOrderByClientId, type StoredOrder } from '../../store/orderStore.ts'
import type { FacadeOrderStatus } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { findTriggerOrder } from '../positionTriggers.ts'
import { facadeOrders } from '../userOrders.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'
import { MalformedInfoError } from './malformedInfo.ts'

const CLOID_PATTERN = /^0x[0-9a-fA-F]{32}$/

/** One order, by its id or by the one its client gave it. */
export async function orderStatus(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const trader = userOf(request)
  reads.positionsOf(trader)
  const order = await find(reads, trader, request.oid)
  return order === undefined ? { status: 'unknownOid' } : { status: 'order', order }
}

async function find(reads: FacadeReads, trader: Address, oid: unknown): Promise<FacadeOrderStatus | undefined> {
  const { sql, chain } = reads
  if (typeof oid === 'string' && CLOID_PATTERN.test(oid)) {
    const cloid = oid.toLowerCase()
    const order = await shown(reads, trader, await findOrderByClientId(sql, chain, trader, cloid))
    return order ?? findTriggerByCloid(reads, trader, cloid)
  }
  const id = idOf(oid)
  return (await shown(reads, trader, await findOrder(sql, id))) ?? findTriggerOrder(reads, trader, id)
}

/** Take profits and stop losses are no orders natively: only the facade knows what its client called them. */
async function findTriggerByCloid(
  reads: FacadeReads,
  trader: Address,
  cloid: string,
): Promise<FacadeOrderStatus | undefined> {
  const kept = await readCloid(reads.sql, { chain: reads.chain, trader, cloid })
  const found = kept && (await findTriggerOrder(reads, trader, kept.oid))
  return found && { ...found, order: { ...found.order, cloid } }
}

/** Clients write numbers as text now and then. */
function idOf(oid: unknown): OrderId {
  const id = typeof oid === 'number' || typeof oid === 'string' ? parseOrderId(String(oid)) : undefined
  if (id === undefined) throw new MalformedInfoError()
  return id
}

/** What is another trader's, or of another chain, is unknown here. */
async function shown(
  reads: FacadeReads,
  trader: Address,
  order: StoredOrder | undefined,
): Promise<FacadeOrderStatus | undefined> {
  if (order === undefined || order.record.trader !== trader || order.record.chain !== reads.chain) return undefined
  return (await facadeOrders(reads, [order]))[0]
}
