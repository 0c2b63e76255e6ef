import { formatDecimal, type Address, type Decimal, type OrderId } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import type { OrderRecord } from '../trading/orders/orderModel.ts'
import { coinsOf } from './coins.ts'
import { facadeOrderStatus, isShown, type FacadeOrderStatus } from './facadeOrder.ts'
import type { FacadeReads } from './facadeReads.ts'
import { triggerOfOrigin } from './triggers.ts'

const PRICE_DECIMALS = 10

/** Stored orders as the facade shows them, in their order, without those that are nobody's business. */
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
  const mark = formatDecimal(reads.quote(coin.pairIndex)?.mark ?? 0n, PRICE_DECIMALS) as Decimal
  const oid = await oidOf(reads, record)
  const shown = facadeOrderStatus(record, state, { coin, oid, mark })
  // It had this id as the take profit or stop loss of a position, and is still that.
  return oid === record.id ? shown : { ...shown, order: { ...shown.order, isPositionTpsl: true } }
}

/** The id that clients know an order by. */
export async function oidOf(
  { triggers }: Pick<FacadeReads, 'triggers'>,
  { id, originKey }: Pick<OrderRecord, 'id' | 'originKey'>,
): Promise<OrderId> {
  const trigger = triggerOfOrigin(originKey)
  return (trigger && (await triggers.knownOid(trigger))) ?? id
}

/** An order that came through the facade is its client's own from the start. */
function isRelayed({ registry, chain }: FacadeReads, { agent }: { readonly agent: Address | null }): boolean {
  return agent !== null && registry.agent(chain, agent)?.mode === 'relayed'
}
