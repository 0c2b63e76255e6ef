import { Price, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import { listSharedTriggers } from '../store/facadeTriggerStore.ts'
import type { StoredOrder } from '../store/orderStore.ts'
import type { OrderRecord } from '../trading/orders/orderModel.ts'
import { coinsOf } from './coins.ts'
import { facadeOrderStatus, isSent, type FacadeOrderStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { findTriggerOrder } from './positionTriggers.ts'
import { triggerOfOrigin } from './triggers.ts'

/**
 * Returns stored orders in the facade's shape, in the given order. Hidden ones are left out (see `isSent`). Executions
 * of the same trigger order are one order, in the place of the first.
 */
export async function facadeOrders(
  reads: FacadeReads,
  orders: readonly StoredOrder[],
): Promise<readonly FacadeOrderStatus[]> {
  const firsts = new Map<OrderId, StoredOrder>()
  const executed: OrderId[] = []
  for (const order of orders) {
    // Almost no order executed a trigger, and waiting for each of them would cost more than all the rest.
    const oid = isOfTrigger(order.record) ? await oidOf(reads, order.record) : order.record.id
    if (firsts.has(oid)) continue
    firsts.set(oid, order)
    if (oid !== order.record.id) executed.push(oid)
  }
  const whole = await listSharedTriggers(reads.sql, executed)
  const shown: FacadeOrderStatus[] = []
  for (const [oid, order] of firsts) {
    if (!whole.has(oid) && !isSent(order) && !(await isRelayed(reads, order.record))) continue
    const one = whole.has(oid) ? await findTriggerOrder(reads, order.record.trader, oid) : oneOrder(reads, order, oid)
    if (one !== undefined) shown.push(one)
  }
  return shown
}

function oneOrder(reads: FacadeReads, { record, state }: StoredOrder, oid: OrderId): FacadeOrderStatus | undefined {
  const coin = coinsOf(reads.markets()).universe[record.request.pairIndex]
  if (coin === undefined || state === undefined) return undefined
  const mark = Price.format(reads.lastQuote(coin.pairIndex)?.mark ?? Price.zero) as Decimal
  const shown = facadeOrderStatus(record, state, { coin, oid, mark })
  // A different id means the order executed a trigger of a position, and it is still shown as one.
  return oid === record.id ? shown : { ...shown, order: { ...shown.order, isPositionTpsl: true } }
}

/** True for an order that executed a trigger of a position, which clients may know by another id. */
export function isOfTrigger({ originKey }: Pick<OrderRecord, 'originKey'>): boolean {
  return triggerOfOrigin(originKey) !== undefined
}

/** Reads the id by which clients know an order. */
export async function oidOf(
  { triggers }: Pick<FacadeReads, 'triggers'>,
  { id, originKey }: Pick<OrderRecord, 'id' | 'originKey'>,
): Promise<OrderId> {
  const trigger = triggerOfOrigin(originKey)
  return (trigger && (await triggers.oidOf(trigger))) ?? id
}

/** True for an order placed through the facade: its client sees it from the start. */
async function isRelayed(
  { registry, chain }: FacadeReads,
  { agent }: { readonly agent: Address | null },
): Promise<boolean> {
  return agent !== null && (await registry.findAgent(chain, agent))?.mode === 'relayed'
}
