import type { OrderId } from '@bezel/protocol'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import { findPosition } from '../../store/positionStore.ts'
import type { OrderRecord, OrderState } from '../../trading/orders/orderModel.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { wholeKeyOf } from '../triggers.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'
import { isUnderWay, settledOrder, settledPosition } from './relayed.ts'

/** The thing that a client names by an id: an order, or the take profit or stop loss of a position. */
export type OwnTarget =
  { readonly kind: 'order'; readonly record: OrderRecord; readonly state: OrderState } | TriggerTarget

/** A take profit or stop loss that can still be changed. */
export interface TriggerTarget {
  readonly kind: 'trigger'
  readonly oid: OrderId
  readonly tpsl: TriggerKind
  /** The trades that are listed under the id; at least one. */
  readonly parts: readonly LivePosition[]
  /** All open trades of the same coin and side. */
  readonly whole: readonly LivePosition[]
  /** True for the order that a client placed for all of them: it stands for all, also for those that differ from it. */
  readonly isOfWhole: boolean
}

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
  return target.kind === 'order' ? target.record.request.pairIndex : target.parts[0]!.state.trade.pairIndex
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

async function ownTrigger(context: ActionContext, oid: OrderId): Promise<TriggerTarget | undefined> {
  const { reads, orders, relayer } = context.parts
  const { triggers } = reads
  const found = await triggers.find(oid)
  const own = await Promise.all((found?.parts ?? []).map((id) => ownPosition(context, id)))
  const first = own.find((position) => position !== undefined)
  if (found === undefined || first === undefined) return undefined
  const { kind: tpsl } = found
  const key = wholeKeyOf(first, tpsl)
  const change = await triggers.onItsWay(key, relayer)
  const isOnItsWay = change?.oid === oid && change.price !== 0n
  // The trigger may still be on its way to the chain, as a resting order may.
  if (isOnItsWay) {
    await Promise.all(found.parts.map((id) => settledPosition(context, id, ({ trade }) => trade[tpsl] !== 0n)))
  }
  const whole = orders.positions
    .ofTrader(context.agent.trader)
    .filter(({ state: { trade } }) => trade.pairIndex === key.pairIndex && trade.long === key.long)
  const parts = (await triggers.list(whole)).find((order) => order.oid === oid)?.parts
  if (parts !== undefined) {
    return { kind: 'trigger', oid, tpsl, parts, whole, isOfWhole: (await triggers.placed(key))?.oid === oid }
  }
  if (whole.length > 0 && isOnItsWay) throw new ExchangeErr(ERR.executing)
  return undefined
}

/** Finds a trade of the trader, also a closed one: another trade may have taken over its trigger order. */
async function ownPosition({ parts, agent }: ActionContext, id: OrderId): Promise<LivePosition | undefined> {
  const found = parts.orders.positions.find(id) ?? (await findPosition(parts.store.read, id))
  if (found?.state === undefined) return undefined
  const { record, state } = found
  return record.chain === agent.chain && record.trader === agent.trader ? { record, state } : undefined
}
