import type { Decimal, Hex, OrderId } from '@bezel/protocol'
import { scaleDecimalTruncated } from '@bezel/protocol'
import { updatePosition } from '../../orders/updatePosition.ts'
import type { LivePosition } from '../../positions/livePositions.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import { PRICE_DECIMALS } from '../../trading/plan/decimals.ts'
import { keepCloid } from './cloids.ts'
import { ERR } from './errStrings.ts'
import type { OrderIds, OrderStatusAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'
import { relayed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import { settledPosition } from './settled.ts'
import type { OrderToTranslate, TranslatedOrder } from './translateOrder.ts'

/** `"0"` removes it. */
export interface TriggerChange {
  readonly position: LivePosition
  readonly tpsl: TriggerKind
  readonly price: Decimal
}

/**
 * Sets the take profit or stop loss of positions. A position has one of each, so one that was there is replaced and its order is the same, at
 * another price. The answer names the order of the oldest position.
 */
export async function placeTrigger(
  context: ActionContext,
  of: OrderToTranslate,
  { tpsl, price, positions }: Extract<TranslatedOrder, { kind: 'trigger' }>,
): Promise<Taken<OrderStatusAnswer>> {
  const keys = positions.map(({ record }) => ({ positionId: record.id, kind: tpsl }))
  const [oid] = await context.parts.reads.triggers.oidsOf(keys)
  if (oid === undefined) throw new ExchangeErr(ERR.reduceOnly)
  const ids: OrderIds = { oid: Number(oid), ...(of.item.cloid === null ? {} : { cloid: of.item.cloid }) }
  const [first, ...others] = positions.map((position) => ({ position, tpsl, price }))
  const sent = [await setFirst(context, of, first!, oid)]
  for (const change of others) sent.push(await setTrigger(context, change))
  return { isAwaited: false, status: heldTriggers(context, sent, ids) }
}

/** The client's id is kept with the first of them. */
async function setFirst(
  context: ActionContext,
  of: OrderToTranslate,
  change: TriggerChange,
  oid: OrderId,
): Promise<SentTrigger> {
  if (!isSet(change)) return setTrigger(context, change, (sql) => keepCloid(sql, context, of, oid))
  if (of.item.cloid !== null) await context.parts.store.transaction((sql) => keepCloid(sql, context, of, oid))
  return { change, hash: null }
}

export interface SentTrigger {
  readonly change: TriggerChange
  readonly hash: Hex | null
}

/** Sends the change of one position, unless it is as it should be. */
export async function setTrigger(
  context: ActionContext,
  change: TriggerChange,
  alsoKeep?: Parameters<typeof relayed>[2],
): Promise<SentTrigger> {
  if (isSet(change)) return { change, hash: null }
  const { position, tpsl, price } = change
  const body = { [tpsl]: price }
  const work = relayed(
    context,
    (write) => updatePosition(context.parts.orders, write, position.record.id, body),
    alsoKeep,
  )
  return { change, hash: (await work).hash }
}

function isSet({ position, tpsl, price }: TriggerChange): boolean {
  return position.state.trade[tpsl] === scaleDecimalTruncated(price, PRICE_DECIMALS)
}

/** The chain may bring a stop loss closer than asked for, so any change of it counts. */
export async function settledTrigger(context: ActionContext, { change, hash }: SentTrigger): Promise<boolean> {
  if (hash === null) return true
  const { position, tpsl } = change
  const before = position.state.trade[tpsl]
  return settledPosition(context, position.record.id, ({ trade }) => trade[tpsl] !== before).catch(() => false)
}

async function heldTriggers(
  context: ActionContext,
  sent: readonly SentTrigger[],
  ids: OrderIds,
): Promise<OrderStatusAnswer> {
  const settled = await Promise.all(sent.map((one) => settledTrigger(context, one)))
  if (settled.every(Boolean)) return { resting: ids }
  return { resting: ids, pending: { oid: ids.oid, txHash: sent[settled.indexOf(false)]!.hash } }
}

/** A trigger that was placed before under the same client's id. */
export async function triggerAnswer(
  { parts }: ActionContext,
  oid: OrderId,
  cloid: string | null,
): Promise<Taken<OrderStatusAnswer>> {
  const key = await parts.reads.triggers.find(oid)
  const position = key && parts.orders.positions.find(key.positionId)
  if (position === undefined) throw new ExchangeErr(ERR.dead)
  const ids: OrderIds = { oid: Number(oid), ...(cloid === null ? {} : { cloid }) }
  return { isAwaited: false, status: Promise.resolve({ resting: ids }) }
}
