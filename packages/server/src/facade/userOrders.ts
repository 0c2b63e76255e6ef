import { Price, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import type { OrderRecord } from '../trading/orders/orderModel.ts'
import { coinsOf } from './coins.ts'
import { facadeOrderStatus, isShown, type FacadeOrderStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { triggerOfOrigin } from './triggers.ts'

/** Returns stored orders in the facade's shape, in the given order. Hidden ones are left out (see `isShown`). */
export async function facadeOrders(
  reads: FacadeReads,
  orders: readonly StoredOrder[],
): Promise<readonly FacadeOrderStatus[]> {
  const shown = await Promise.all(orders.map((order) => oneOrder(reads, order)))
  return shown.filter((order) => order !== undefined)
}

async function oneOrder(reads: FacadeReads, order: StoredOrder): Promise<FacadeOrderStatus | undefined> {
  const { record, state } = order
  const coin = coinsOf(reads.markets()).universe[record.request.pairIndex]
  if (coin === undefined || state === undefined || !isShown(order, (of) => isRelayed(reads, of))) return undefined
  const mark = Price.format(reads.quote(coin.pairIndex)?.mark ?? Price.zero) as Decimal
  const oid = await oidOf(reads, record)
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
  return (trigger && (await triggers.knownOid(trigger))) ?? id
}

/** True for an order placed through the facade: its client sees it from the start. */
function isRelayed({ registry, chain }: FacadeReads, { agent }: { readonly agent: Address | null }): boolean {
  return agent !== null && registry.agent(chain, agent)?.mode === 'relayed'
}
