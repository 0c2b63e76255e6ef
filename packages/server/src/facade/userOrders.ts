import { Price, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import { listSharedTriggers } from '../store/facadeTriggerStore.ts'
import type { StoredOrder } from '../store/orderStore.ts'
import type { OrderRecord } from '../trading/orders/orderModel.ts'
import { coinsOf } from './coins.ts'
import { facadeOrderStatus, isShown, type FacadeOrderStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { findTriggerOrder } from './positionTriggers.ts'
import { triggerOfOrigin } from './triggers.ts'

/**
 * Returns stored orders in the facade's shape, in the given order. Hidden ones are left out (see `isShown`). Executions
 * of the same trigger order are one order, in the place of the first.
 */
export async function facadeOrders(
  reads: FacadeReads,
  orders: readonly StoredOrder[],
): Promise<readonly FacadeOrderStatus[]> {
  const named = await Promise.all(orders.map(async (order) => ({ order, oid: await oidOf(reads, order.record) })))
  const firsts = [...Map.groupBy(named, ({ oid }) => oid).values()].map(([first]) => first!)
  const executed = firsts.filter(({ order, oid }) => oid !== order.record.id).map(({ oid }) => oid)
  const whole = await listSharedTriggers(reads.sql, executed)
  const shown = firsts.map(({ order, oid }) =>
    whole.has(oid) ? findTriggerOrder(reads, order.record.trader, oid) : oneOrder(reads, order, oid),
  )
  return (await Promise.all(shown)).filter((one) => one !== undefined)
}

function oneOrder(reads: FacadeReads, order: StoredOrder, oid: OrderId): FacadeOrderStatus | undefined {
  const { record, state } = order
  const coin = coinsOf(reads.markets()).universe[record.request.pairIndex]
  if (coin === undefined || state === undefined || !isShown(order, (of) => isRelayed(reads, of))) return undefined
  const mark = Price.format(reads.quote(coin.pairIndex)?.mark ?? Price.zero) as Decimal
  const shown = facadeOrderStatus(record, state, { coin, oid, mark })
  // A different id means the order executed a trigger of a position, and it is still shown as one.
  return oid === record.id ? shown : { ...shown, order: { ...shown.order, isPositionTpsl: true } }
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
function isRelayed({ registry, chain }: FacadeReads, { agent }: { readonly agent: Address | null }): boolean {
  return agent !== null && registry.agent(chain, agent)?.mode === 'relayed'
}
