import { setImmediate as nextTick } from 'node:timers/promises'
import { parseOrderId, type Address, type OrderId } from '@bezel/protocol'
import { readCloid } from '../../store/facadeCloidStore.ts'
import { findOrder, findOrderByClientId, type StoredOrder, listOrders } from '../../store/orderStore.ts'
import { INFO_PAGE, MAX_INFO_ROWS, type RowMeter } from '../../access/weights.ts'
import type { FacadeOrderStatus } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { findTriggerOrder } from '../positionTriggers.ts'
import { facadeOrders } from '../userOrders.ts'
import { MalformedInfoError, userOf, type UserRequest, userRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

/** An id after those of all orders. */
const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

const CLOID_PATTERN = /^0x[0-9a-fA-F]{32}$/

/** The order asked for, by its id or by its client order id. */
type OrderStatusRequest = UserRequest & ({ readonly oid: OrderId } | { readonly cloid: string })

type OrderStatusAnswer =
  { readonly status: 'order'; readonly order: FacadeOrderStatus } | { readonly status: 'unknownOid' }

/** One order and its status. */
export const orderStatus = defineInfo<OrderStatusRequest, OrderStatusAnswer>({
  parse(body, reads) {
    const user = userOf(body)
    // Throws `NOT_READY` until the follower has caught up with the chain, whatever the id is.
    reads.positionsOf(user)
    const { oid } = body
    if (typeof oid === 'string' && CLOID_PATTERN.test(oid)) return { user, cloid: oid.toLowerCase() }
    return { user, oid: idOf(oid) }
  },
  async answer(request, reads) {
    const order = 'cloid' in request ? await findByCloid(reads, request) : await findByOid(reads, request)
    return order === undefined ? { status: 'unknownOid' } : { status: 'order', order }
  },
})

type Found = Promise<FacadeOrderStatus | undefined>

async function findByOid(reads: FacadeReads, { user, oid }: UserRequest & { readonly oid: OrderId }): Found {
  return (await shown(reads, user, await findOrder(reads.sql, oid))) ?? findTriggerOrder(reads, user, oid)
}

async function findByCloid(reads: FacadeReads, { user, cloid }: UserRequest & { readonly cloid: string }): Found {
  const order = await shown(reads, user, await findOrderByClientId(reads.sql, reads.chain, user, cloid))
  return order ?? findTriggerByCloid(reads, user, cloid)
}

/**
 * Finds a take profit or stop loss by its client order id. These are not orders natively, so only the facade's own
 * table knows the id.
 */
async function findTriggerByCloid(reads: FacadeReads, trader: Address, cloid: string): Found {
  const kept = await readCloid(reads.sql, { chain: reads.chain, trader, cloid })
  const found = kept && (await findTriggerOrder(reads, trader, kept.oid))
  return found && { ...found, order: { ...found.order, cloid } }
}

/** Parses an order id. Some clients send numbers as text. */
function idOf(oid: unknown): OrderId {
  const id = typeof oid === 'number' || typeof oid === 'string' ? parseOrderId(String(oid)) : undefined
  if (id === undefined) throw new MalformedInfoError()
  return id
}

/** Returns the facade's form of an order, or `undefined` for one of another trader or chain. */
async function shown(reads: FacadeReads, trader: Address, order: StoredOrder | undefined): Found {
  if (order === undefined || order.record.trader !== trader || order.record.chain !== reads.chain) return undefined
  return (await facadeOrders(reads, [order]))[0]
}

/** A user's last orders, newest first, each in its present state. */
export const historicalOrders = defineInfo<UserRequest, readonly FacadeOrderStatus[]>({
  parse: userRequest,
  answer: keptList('historicalOrders', ({ user }, reads, meter) => readHistoricalOrders(reads, user, meter)),
})

/** Reads a user's last orders. Throws `NOT_READY` until the follower has caught up with the chain. */
async function readHistoricalOrders(
  reads: FacadeReads,
  user: Address,
  meter: RowMeter,
): Promise<readonly FacadeOrderStatus[]> {
  reads.positionsOf(user)
  const orders: StoredOrder[] = []
  for (let before = AFTER_ALL; orders.length < MAX_INFO_ROWS; before = orders.at(-1)!.record.id) {
    const page = await listOrders(reads.sql, reads.chain, user, before, INFO_PAGE)
    await meter.add(page.length)
    orders.push(...page)
    if (page.length < INFO_PAGE) break
    // Whoever asks for less gets a turn between two pages.
    await nextTick()
  }
  return facadeOrders(reads, orders)
}
