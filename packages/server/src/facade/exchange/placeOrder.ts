import { ApiError, type OrderId } from '@bezel/protocol'
import { createOrder } from '../../orders/createOrder.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { OrderRecord } from '../../trading/orders/orderModel.ts'
import { coinsOf, type Coin } from '../coins.ts'
import { findAsked, keepOrderCloid } from './cloids.ts'
import { ERR } from './errStrings.ts'
import type { OrderStatusAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'
import { orderStatusAnswer, type AnsweredOrder } from './orderStatusAnswer.ts'
import { placeTrigger, triggerAnswer } from './placeTrigger.ts'
import { relayed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import { isUnderWay, settledOrder } from './settled.ts'
import { translateOrder, type OrderToTranslate, type TranslatedOrder } from './translateOrder.ts'

/** An order that was taken. */
export interface PlacedOrder extends Taken<OrderStatusAnswer> {
  /** What it opened once it is filled; `null` otherwise. */
  readonly positionId: Promise<OrderId | null>
}

/** Places an order, or finds the one that was placed under the same client's id. Throws what it is refused for. */
export async function placeOrder(context: ActionContext, of: OrderToTranslate): Promise<PlacedOrder> {
  const known = await findAsked(context, of)
  if (known !== undefined) return answerKnown(context, of, known)
  try {
    return await placeNew(context, of)
  } catch (error) {
    // Another request with the same id was faster.
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

const NO_POSITION = { positionId: Promise.resolve(null) }

async function placeNative(
  context: ActionContext,
  of: OrderToTranslate,
  { coin, body }: Extract<TranslatedOrder, { kind: 'order' }>,
): Promise<PlacedOrder> {
  const { orders } = context.parts
  const { result } = await relayed(context, (write) => createOrder(orders, write, body), keepOrderCloid(context, of))
  // Made by another request in the meantime, perhaps of other words.
  if (result.isRepeat) await findAsked(context, of)
  const { order } = result.prepared
  return held(context, coin, order as AnsweredOrder, body.type === 'market')
}

/** Holds the answer until the order is decided. */
function held(context: ActionContext, coin: Coin, order: AnsweredOrder, isAwaited: boolean): PlacedOrder {
  const settled = settledOrder(context, order.id as OrderId, (state) => !isUnderWay(state)).then(
    (state) => ({ ...order, ...state }),
    () => order,
  )
  return {
    isAwaited,
    status: settled.then((now) => orderStatusAnswer(coin, now)),
    positionId: settled.then(({ status, fill }) =>
      status === 'filled' ? ((fill?.positionId ?? null) as OrderId | null) : null,
    ),
  }
}

/** An order that is there, as it is now or as soon as it is decided. */
async function answerKnown(context: ActionContext, of: OrderToTranslate, oid: OrderId): Promise<PlacedOrder> {
  const { parts } = context
  const stored = await findOrder(parts.store.read, oid)
  if (stored === undefined) return { ...(await triggerAnswer(context, oid, of.item.cloid)), ...NO_POSITION }
  const { record, state } = stored
  if (state === undefined) throw new ExchangeErr(ERR.dead)
  return held(context, coinOf(context, record), { ...state, ...namesOf(record) }, false)
}

export function namesOf({ id, request }: OrderRecord): Pick<AnsweredOrder, 'id' | 'clientId'> {
  return { id, clientId: request.clientId }
}

function coinOf({ parts }: ActionContext, { request }: OrderRecord): Coin {
  const coin = coinsOf(parts.orders.trading().chain).universe[request.pairIndex]
  if (coin === undefined) throw new ExchangeErr(ERR.dead)
  return coin
}
