import { type OrderId, ApiError } from '@bezel/protocol'
import { createOrder } from '../../orders/createOrder.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { OrderRecord, OrderState } from '../../trading/orders/orderModel.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { coinsOf, type Coin } from '../coins.ts'
import { MalformedEnvelope, type ExchangeAction } from '../signing/envelope.ts'
import { duplicateText, findAsked, keepOrderTerms } from './cloids.ts'
import { ERR, ExchangeErr, reasonText } from './errStrings.ts'
import {
  ordersAnswer,
  type ExchangeAnswer,
  type OrderStatusAnswer,
  orderStatusAnswer,
  type AnsweredOrder,
  namesOf,
} from './exchangeAnswer.ts'
import type { ActionContext, RunAction } from './exchangeParts.ts'
import { listAt } from './fields.ts'
import { readOrderItem, type OrderItem } from './orderItem.ts'
import { placeTrigger, triggerAnswer } from './placeTrigger.ts'
import { relayed, isUnderWay, settledOrder } from './relayed.ts'
import { requireBatch, runBatch, type Taken } from './runBatch.ts'
import { type Attached, type OrderToTranslate, translateOrder, type TranslatedOrder } from './translateOrder.ts'

type Grouping = 'na' | 'normalTpsl' | 'positionTpsl'

/**
 * Places orders, either independently or as one order with the take profit and stop loss of the position it opens.
 * Ignores the builder fee: none is paid here.
 */
export function order(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const listed = requireBatch(listAt(action.orders, 'action.orders'), 'orders')
  const items = listed.map((item, at) => readOrderItem(item, `action.orders[${at}]`))
  const grouping = readGrouping(action.grouping)
  return async (context) =>
    ordersAnswer(await (grouping === 'normalTpsl' ? placeGroup(context, items) : placeEach(context, items, grouping)))
}

/**
 * Reads the grouping. One client sends an object instead of a name, which says nothing about triggers and counts as
 * `na`.
 */
function readGrouping(value: ExchangeAction[string] | undefined): Grouping {
  if (value === 'normalTpsl' || value === 'positionTpsl') return value
  if (value === 'na' || (value !== null && typeof value === 'object')) return 'na'
  throw new MalformedEnvelope('action.grouping must be na, normalTpsl or positionTpsl.')
}

async function placeEach(
  context: ActionContext,
  items: readonly OrderItem[],
  grouping: Grouping,
): Promise<readonly OrderStatusAnswer[]> {
  return runBatch(context, items, {
    keyOf: ({ asset }) => String(asset),
    suffixOf,
    take: (item) => {
      const isOfPosition = grouping === 'positionTpsl' && item.terms.kind === 'trigger'
      return placeWithRefusals(context, { item, attached: {}, isOfPosition })
    },
  })
}

/** Places an order. A refusal by the chain while the answer is held names the asset. */
async function placeWithRefusals(context: ActionContext, of: OrderToTranslate): Promise<Taken<OrderStatusAnswer>> {
  const placed = await placeOrder(context, of)
  return { ...placed, status: placed.status.then((status) => named(status, of.item)) }
}

function named(status: OrderStatusAnswer, item: OrderItem): OrderStatusAnswer {
  return typeof status === 'object' && 'error' in status ? { error: `${status.error}${suffixOf(item)}` } : status
}

function suffixOf({ asset }: OrderItem): string {
  return ` asset=${asset}`
}

/** Places an order together with its take profit and stop loss, which are part of the same order on the chain. */
async function placeGroup(context: ActionContext, items: readonly OrderItem[]): Promise<readonly OrderStatusAnswer[]> {
  const [main, ...children] = items
  const attached = attachedBy(main!, children)
  let positionId: Promise<OrderId | null> = Promise.resolve(null)
  const [status] = await runBatch(context, [main!], {
    keyOf: ({ asset }) => String(asset),
    suffixOf,
    async take(item) {
      const of = { item, attached, isOfPosition: false }
      const placed = await placeOrder(context, of)
      positionId = placed.positionId
      return { ...placed, status: placed.status.then((answer) => named(answer, item)) }
    },
  })
  const answers = await childAnswers(context, children, status!, await positionId)
  return [status!, ...answers]
}

/** Returns the trigger prices of the child orders. Throws when a child is not a trigger of the first order. */
function attachedBy(main: OrderItem, children: readonly OrderItem[]): Attached {
  if (main.terms.kind !== 'limit' || main.reduceOnly) {
    throw new ExchangeErr('The first order of normalTpsl must be one that opens a position.')
  }
  const attached: Partial<Record<TriggerKind, OrderItem['px']>> = {}
  for (const { terms, ...child } of children) {
    const isOfMain = child.asset === main.asset && child.isBuy !== main.isBuy && child.reduceOnly
    if (terms.kind !== 'trigger' || !isOfMain || attached[terms.tpsl] !== undefined) {
      throw new ExchangeErr('The other orders of normalTpsl must be one reduce-only TP and one SL of the first one.')
    }
    if (child.sz !== main.sz) throw new ExchangeErr(ERR.partialTrigger)
    attached[terms.tpsl] = terms.triggerPx
  }
  return attached
}

/**
 * Returns the outcomes of the triggers: resting once the position is open, waiting until then, refused when the order
 * is.
 */
async function childAnswers(
  { parts, agent }: ActionContext,
  children: readonly OrderItem[],
  main: OrderStatusAnswer,
  positionId: OrderId | null,
): Promise<readonly OrderStatusAnswer[]> {
  if (typeof main === 'object' && 'error' in main) return children.map(() => main)
  if (positionId === null) return children.map(() => 'waitingForFill' as const)
  // The order is filled even when the triggers' ids can't be read now.
  const listed = await parts.reads.triggers.list(parts.orders.positions.ofTrader(agent.trader)).catch(() => [])
  return children.map(({ terms }) => {
    const isOwn = ({ record }: LivePosition): boolean => record.id === positionId
    const trigger = listed.find(({ kind, parts: of }) => kind === kindOf(terms) && of.some(isOwn))
    return trigger === undefined ? 'waitingForFill' : { resting: { oid: Number(trigger.oid) } }
  })
}

function kindOf(terms: OrderItem['terms']): TriggerKind {
  if (terms.kind !== 'trigger') throw new Error('the order is no trigger')
  return terms.tpsl
}

/** An order that was accepted. */
interface PlacedOrder extends Taken<OrderStatusAnswer> {
  /** The position that the order opened; `null` unless the order is filled. */
  readonly positionId: Promise<OrderId | null>
}

const NO_POSITION = { positionId: Promise.resolve(null) }

/** Places an order, or finds the one placed earlier under the same client order id. Throws the refusal. */
async function placeOrder(context: ActionContext, of: OrderToTranslate): Promise<PlacedOrder> {
  const known = await findAsked(context, of)
  if (known !== undefined) return answerKnown(context, of, known)
  try {
    return await placeNew(context, of)
  } catch (error) {
    // Another request with the same client order id was faster.
    const isTaken = error instanceof ApiError && error.code === 'IDEMPOTENCY_CONFLICT'
    const made = isTaken ? await findAsked(context, of) : undefined
    if (made === undefined) throw error
    return answerKnown(context, of, made)
  }
}

async function placeNew(context: ActionContext, of: OrderToTranslate): Promise<PlacedOrder> {
  const translated = await translateOrder(context, of)
  if (translated.kind === 'trigger') return { ...(await placeTrigger(context, of, translated)), ...NO_POSITION }
  return placeNative(context, of, translated)
}

async function placeNative(
  context: ActionContext,
  of: OrderToTranslate,
  { coin, body, inherits }: Extract<TranslatedOrder, { kind: 'order' }>,
): Promise<PlacedOrder> {
  const { orders } = context.parts
  const alsoKeep = keepOrderTerms(context, of, inherits)
  const { result } = await relayed(context, (write) => createOrder(orders, write, body), alsoKeep)
  // Another request made the order in the meantime; `findAsked` throws when that request was a different one.
  if (result.isRepeat) await findAsked(context, of)
  return held(context, coin, result.prepared.order as AnsweredOrder, body.type === 'market')
}

/** Holds the answer until the order is no longer under way. */
function held(context: ActionContext, coin: Coin, made: AnsweredOrder, isAwaited: boolean): PlacedOrder {
  const settled = settledOrder(context, made.id as OrderId, (state) => !isUnderWay(state)).then(
    (state) => ({ ...made, ...state }),
    () => made,
  )
  return {
    isAwaited,
    status: settled.then((now) => orderStatusAnswer(coin, now)),
    positionId: settled.then(({ status, fill }) =>
      status === 'filled' ? ((fill?.positionId ?? null) as OrderId | null) : null,
    ),
  }
}

/** Answers with an order that exists, holding the answer while the order is under way. */
async function answerKnown(context: ActionContext, of: OrderToTranslate, oid: OrderId): Promise<PlacedOrder> {
  const { parts } = context
  const stored = await findOrder(parts.store.read, oid)
  if (stored === undefined) return { ...(await triggerAnswer(context, oid, of.item.cloid)), ...NO_POSITION }
  const { record, state } = stored
  if (state === undefined) throw new ExchangeErr(ERR.dead)
  const end = endOf(state)
  if (end !== undefined) throw new ExchangeErr(duplicateText(oid, end))
  return held(context, coinOf(context, record), { ...state, ...namesOf(record) }, false)
}

/** Returns the end of an order of which nothing is left, so that its cloid is refused; `undefined` for any other. */
function endOf({ status, reason }: OrderState): string | undefined {
  if (status === 'rejected') return `was rejected (${reasonText(reason)})`
  if (status === 'expired') return 'was not mined in time'
  return status === 'canceled' ? 'was canceled' : undefined
}

function coinOf({ parts }: ActionContext, { request }: OrderRecord): Coin {
  const coin = coinsOf(parts.orders.trading().chain).universe[request.pairIndex]
  if (coin === undefined) throw new ExchangeErr(ERR.dead)
  return coin
}
