import type { OrderId } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { OrderRecord, OrderState } from '../../trading/orders/orderModel.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'
import { isUnderWay, settledOrder, settledPosition } from './relayed.ts'

/** The thing that a client names by an id: an order, or the take profit or stop loss of a position. */
export type OwnTarget =
  | { readonly kind: 'order'; readonly record: OrderRecord; readonly state: OrderState }
  | { readonly kind: 'trigger'; readonly oid: OrderId; readonly tpsl: TriggerKind; readonly position: LivePosition }

/**
 * Finds the trader's order or trigger with this id in this coin, while it can still be changed. Otherwise throws the
 * text by which clients know that an order has ended.
 */
export async function ownTarget(
  context: ActionContext,
  oid: OrderId | undefined,
  asset: number | null,
): Promise<OwnTarget> {
  const target = oid === undefined ? undefined : ((await ownOrderOf(context, oid)) ?? (await ownTrigger(context, oid)))
  if (target === undefined || (asset !== null && pairIndexOf(target) !== asset)) throw new ExchangeErr(ERR.dead)
  return target
}

function pairIndexOf(target: OwnTarget): number {
  return target.kind === 'order' ? target.record.request.pairIndex : target.position.state.trade.pairIndex
}

/**
 * Finds one of the trader's orders. Waits for an order that is still on its way to the chain, because nothing can be
 * done to it before.
 */
async function ownOrderOf(context: ActionContext, oid: OrderId): Promise<OwnTarget | undefined> {
  const { parts, agent } = context
  const stored = await findOrder(parts.store.read, oid)
  if (stored?.state === undefined) return undefined
  const { record } = stored
  if (record.chain !== agent.chain || record.trader !== agent.trader) return undefined
  const state = await pastItsWay(context, record, stored.state)
  if (state.status === 'pending') throw new ExchangeErr(ERR.executing)
  // A prepared order was not sent yet and can be withdrawn.
  if (state.status !== 'open' && state.status !== 'prepared') throw new ExchangeErr(ERR.dead)
  return { kind: 'order', record, state }
}

async function pastItsWay(
  context: ActionContext,
  { id, request }: OrderRecord,
  state: OrderState,
): Promise<OrderState> {
  if (request.type === 'market' || state.status !== 'pending') return state
  return (await settledOrder(context, id, (later) => !isUnderWay(later))) ?? state
}

async function ownTrigger(context: ActionContext, oid: OrderId): Promise<OwnTarget | undefined> {
  const { reads, orders, now } = context.parts
  const key = await reads.triggers.find(oid)
  if (key === undefined || key.isFormer) return undefined
  const { positionId, kind } = key
  const current = (): LivePosition | undefined => orders.positions.find(positionId)
  if (current()?.record.trader !== context.agent.trader) return undefined
  const isOnItsWay = reads.triggers.isOnItsWay(key, now())
  // The trigger may still be on its way to the chain, as a resting order may.
  if (isOnItsWay) await settledPosition(context, positionId, ({ trade }) => trade[kind] !== 0n)
  const position = current()
  if (position !== undefined && position.state.trade[kind] !== 0n) return { kind: 'trigger', oid, tpsl: kind, position }
  if (position !== undefined && isOnItsWay) throw new ExchangeErr(ERR.executing)
  return undefined
}
