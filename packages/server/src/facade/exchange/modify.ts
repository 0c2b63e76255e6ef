import { Price, type Decimal, type OrderId, type UpdateOrderRequest } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { updateOrder } from '../../orders/updateOrder.ts'
import { readInheriting } from '../../store/facadeTriggerStore.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { findByCloid } from './cloids.ts'
import { ExchangeErr, ERR } from './errStrings.ts'
import {
  OK_DEFAULT,
  type ExchangeAnswer,
  type OrderStatusAnswer,
  orderIds,
  orderStatusAnswer,
  namesOf,
  ordersAnswer,
} from './exchangeAnswer.ts'
import type { RunAction, ActionContext } from './exchangeParts.ts'
import { cloidAt, objectAt, oidAt, listAt } from './fields.ts'
import { heldSize, isAllHeld, marketView, priceOf, sizeOf, type MarketView } from './marketView.ts'
import { readOrderItem, type OrderItem } from './orderItem.ts'
import { ownTarget, type OwnTarget, type TriggerTarget } from './ownTarget.ts'
import { assignTrigger, heldTrigger } from './placeTrigger.ts'
import { isMarketable, postOnlyRefusal, refuseFarPrice } from './priceBound.ts'
import { relayed, settledOrder, unlessFailed } from './relayed.ts'
import { type Taken, requireBatch, runBatch } from './runBatch.ts'
import { stopsInForce, stopTerms, takenStops } from './stopsInForce.ts'

const NO_TRIGGER = '0' as Decimal

/** Changes one order. */
export function modify(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const asked = readModify(action, 'action')
  return async (context) => {
    const status = await (await modifyOne(context, asked)).status
    if (typeof status === 'object' && 'error' in status) throw new ExchangeErr(status.error)
    return OK_DEFAULT
  }
}

/** Changes several orders. */
export function batchModify(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const listed = requireBatch(listAt(action.modifies, 'action.modifies'), 'modifies')
  const modifies = listed.map((item, at) => readModify(item, `action.modifies[${at}]`))
  return async (context) => {
    const statuses = await runBatch(context, modifies, {
      keyOf: modifyKey,
      suffixOf: ({ item }) => ` asset=${item.asset}`,
      take: (asked) => modifyOne(context, asked),
    })
    return ordersAnswer(statuses)
  }
}

/** A request to change an order into `item`. */
interface Modify {
  /** The order's id, or its client order id. */
  readonly named: { readonly oid: OrderId | undefined } | { readonly cloid: string }
  readonly item: OrderItem
}

function readModify(value: JsonValue | undefined, path: string): Modify {
  const { oid, order } = objectAt(value, path)
  const named = typeof oid === 'string' ? { cloid: cloidAt(oid, `${path}.oid`) } : { oid: oidAt(oid, `${path}.oid`) }
  return { named, item: readOrderItem(order, `${path}.order`) }
}

/** Returns the key under which changes are queued: the second change of an order waits for the first. */
function modifyKey({ named }: Modify): string {
  return 'cloid' in named ? named.cloid : String(named.oid)
}

/**
 * Changes the price or size of a resting order, or the price of a take profit or stop loss. The id stays. Throws the
 * refusal.
 */
async function modifyOne(context: ActionContext, { named, item }: Modify): Promise<Taken<OrderStatusAnswer>> {
  const oid = 'cloid' in named ? await findByCloid(context, named.cloid) : named.oid
  const target = await ownTarget(context, oid, null)
  return target.kind === 'order' ? modifyOrder(context, target, item) : modifyTrigger(context, target, item)
}

type OrderTarget = Extract<OwnTarget, { kind: 'order' }>

async function modifyOrder(
  context: ActionContext,
  target: OrderTarget,
  item: OrderItem,
): Promise<Taken<OrderStatusAnswer>> {
  const { record, state } = target
  const { request } = record
  requireSame(item, { asset: request.pairIndex, isBuy: request.side === 'long' })
  if (item.reduceOnly)
    throw new ExchangeErr('An order that opens can not be made reduce-only: cancel it and place another one.')
  if (item.cloid !== null && item.cloid !== request.clientId)
    throw new ExchangeErr('The cloid of an order can not be changed.')
  const view = marketView(context, item.asset)
  const terms = newTerms(view, target, item)
  const body = { ...changesOf(state, terms), ...(await inheritedChanges(context, view, target, terms)) }
  const names = namesOf(record)
  if (Object.keys(body).length === 0) return { isAwaited: false, status: Promise.resolve({ resting: orderIds(names) }) }
  const { hash } = await relayed(context, (write) => updateOrder(context.parts.orders, write, record.id, body))
  const isDone = (now: OrderState): boolean => now.status !== 'open' || Object.keys(changesOf(now, body)).length === 0
  const settled = settledOrder(context, record.id, isDone).catch(() => undefined)
  const { coin } = view
  const pending = { ...state, ...names, status: 'pending', txHash: hash } as const
  return {
    isAwaited: true,
    status: unlessFailed(context, hash, settled).then((now) =>
      now === 'failed'
        ? { error: ERR.failed }
        : orderStatusAnswer(coin, now === undefined ? pending : { ...now, ...names }),
    ),
  }
}

interface NewTerms {
  readonly price: Decimal
  readonly size: Decimal
}

/**
 * Returns the new native terms. Throws when the order would change its kind: a limit order can't become a stop order.
 */
function newTerms(view: MarketView, { record }: OrderTarget, item: OrderItem): NewTerms {
  const size = sizeOf(view, item.sz).text
  const { terms } = item
  const type = terms.kind === 'trigger' && terms.tpsl === 'sl' ? 'stop' : 'limit'
  if (type !== record.request.type)
    throw new ExchangeErr('The type of an order can not be changed: cancel it and place another one.')
  if (terms.kind === 'trigger') return { size, price: priceOf(view, terms.triggerPx).text }
  const price = priceOf(view, item.px)
  refuseFarPrice(view, price.units)
  if (terms.tif === 'Ioc')
    throw new ExchangeErr('A resting order can not become an Ioc order: cancel it and place another one.')
  if (terms.tif === 'Alo' && isMarketable(view, item.isBuy, price.units)) throw postOnlyRefusal(view)
  return { size, price: price.text }
}

/** Returns the terms that differ from the order's current ones. */
function changesOf(state: OrderState, terms: Pick<UpdateOrderRequest, 'price' | 'size'>): UpdateOrderRequest {
  const { price, size } = terms
  return {
    ...(price === undefined || price === state.price ? {} : { price }),
    ...(size === undefined || size === state.size ? {} : { size }),
  }
}

/**
 * Returns the triggers that a resting order is to carry at another price, as far as it takes them over from the
 * position: it is never refused for one that the contracts do not take there.
 */
async function inheritedChanges(
  context: ActionContext,
  view: MarketView,
  { record, state }: OrderTarget,
  { price }: NewTerms,
): Promise<UpdateOrderRequest> {
  const inheriting = price === state.price ? undefined : await readInheriting(context.parts.store.read, record.id)
  if (inheriting === undefined) return {}
  const long = record.request.side === 'long'
  const trades = view.positions.filter(({ state: { trade } }) => trade.long === long)
  const entry = { ...record.request, market: view.market, price: Price.parseTruncated(price) }
  const stops = stopTerms(takenStops(await stopsInForce(context.parts, trades), entry, view.trading))
  const changed = inheriting.kinds.filter((kind) => (stops[kind] ?? null) !== state[kind])
  return Object.fromEntries(changed.map((kind) => [kind, stops[kind] ?? NO_TRIGGER]))
}

/** Moves a take profit or stop loss, with all the trades that it stands for. */
async function modifyTrigger(
  context: ActionContext,
  target: TriggerTarget,
  item: OrderItem,
): Promise<Taken<OrderStatusAnswer>> {
  const { tpsl, oid, whole } = target
  const { trade } = target.parts[0]!.state
  requireSame(item, { asset: trade.pairIndex, isBuy: !trade.long })
  const view = marketView(context, item.asset)
  const price = newTrigger(view, target, item)
  const isWhole = isOfWhole(view, target, item)
  const parts = isWhole ? whole : target.parts
  const sent = await assignTrigger(context, { parts, tpsl, price, oid, isWhole })
  return { isAwaited: true, status: heldTrigger(context, null, sent) }
}

/**
 * True when all trades of the position change, and not only those that are listed under the order: by the size of all
 * of them, or because the order was placed for all of them.
 */
function isOfWhole(view: MarketView, { parts, whole, ...target }: TriggerTarget, item: OrderItem): boolean {
  const { units } = sizeOf(view, item.sz)
  if (!isAllHeld(view, units, heldSize(view, parts))) throw new ExchangeErr(ERR.partialTrigger)
  return target.isOfWhole || isAllHeld(view, units, heldSize(view, whole))
}

/**
 * Returns the new trigger price. A take profit may also be sent as a resting order, the form it may have been placed
 * in.
 */
function newTrigger(view: MarketView, { tpsl }: TriggerTarget, { terms, px }: OrderItem): Decimal {
  const kind = terms.kind === 'trigger' ? terms.tpsl : 'tp'
  if (kind !== tpsl) throw new ExchangeErr('A TP order can not become an SL order, nor the other way round.')
  return priceOf(view, terms.kind === 'trigger' ? terms.triggerPx : px).text
}

function requireSame(item: OrderItem, { asset, isBuy }: Pick<OrderItem, 'asset' | 'isBuy'>): void {
  if (item.asset !== asset) throw new ExchangeErr(ERR.dead)
  if (item.isBuy !== isBuy)
    throw new ExchangeErr('The side of an order can not be changed: cancel it and place another one.')
}
