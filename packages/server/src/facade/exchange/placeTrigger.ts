import type { LivePosition } from '../../trading/positions/livePosition.ts'
import type { Decimal, Hex, OrderId } from '@bezel/protocol'
import { scaleDecimalTruncated } from '@bezel/protocol'
import { updatePosition } from '../../orders/updatePosition.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import type { Sql } from '../../store/sql.ts'
import { PRICE_DECIMALS } from '../../trading/plan/decimals.ts'
import { freeCloid, keepCloid } from './cloids.ts'
import { ERR } from './errStrings.ts'
import type { OrderIds, OrderStatusAnswer } from './exchangeAnswer.ts'
import { ExchangeErr } from './exchangeErr.ts'
import type { ActionContext } from './exchangeParts.ts'
import { relayed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import { settledPosition, unlessFailed } from './settled.ts'
import type { OrderToTranslate, TranslatedOrder } from './translateOrder.ts'

/** So long one that was placed is awaited when it is to be changed before the chain knows of it. */
const ON_ITS_WAY_MS = 60_000

/** `"0"` removes it. */
export interface TriggerChange {
  readonly position: LivePosition
  readonly tpsl: TriggerKind
  readonly price: Decimal
}

/**
 * Sets the take profit or stop loss of positions. A position has one of each, so one that was there is replaced: its order is over, and this one
 * has an id of its own. The answer names the order of the oldest position.
 */
export async function placeTrigger(
  context: ActionContext,
  of: OrderToTranslate,
  { tpsl, price, positions }: Extract<TranslatedOrder, { kind: 'trigger' }>,
): Promise<Taken<OrderStatusAnswer>> {
  const [first, ...others] = positions.map((position) => ({ position, tpsl, price }))
  if (first === undefined) throw new ExchangeErr(ERR.reduceOnly)
  const sent: SentTrigger[] = []
  // The oldest comes last, and with it the client's id: while that is not kept the whole can be sent again.
  for (const change of others.toReversed()) sent.push(await renewTrigger(context, change))
  const named = await renewTrigger(context, first, (sql, oid) => keepCloid(sql, context, of, oid))
  const ids: OrderIds = { oid: Number(named.oid), ...(of.item.cloid === null ? {} : { cloid: of.item.cloid }) }
  return { isAwaited: false, status: heldTriggers(context, of, [...sent, named], ids) }
}

/** Sends the change of one position, unless it is as it should be, and makes an order with a new id of it. */
async function renewTrigger(
  context: ActionContext,
  change: TriggerChange,
  alsoKeep: (sql: Sql, oid: OrderId) => Promise<void> = async () => {},
): Promise<SentTrigger & { readonly oid: OrderId }> {
  const { store, reads } = context.parts
  const key = { positionId: change.position.record.id, kind: change.tpsl }
  const made: OrderId[] = []
  const renew = async (sql: Sql): Promise<void> => {
    const oid = await reads.triggers.renew(sql, key)
    made.push(oid)
    await alsoKeep(sql, oid)
  }
  if (isSet(change)) await store.transaction(renew)
  const sent = await setTrigger(context, change, renew)
  const oid = made.at(-1)!
  reads.triggers.renewed(key, oid)
  if (sent.hash !== null) reads.triggers.sent(key, context.parts.now() + ON_ITS_WAY_MS)
  return { ...sent, oid }
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
export async function settledTrigger(
  context: ActionContext,
  { change, hash }: SentTrigger,
): Promise<boolean | 'failed'> {
  if (hash === null) return true
  const { position, tpsl } = change
  const before = position.state.trade[tpsl]
  const settled = settledPosition(context, position.record.id, ({ trade }) => trade[tpsl] !== before)
  const outcome = await unlessFailed(
    context,
    hash,
    settled.catch(() => false),
  )
  if (outcome !== false) context.parts.reads.triggers.settled({ positionId: position.record.id, kind: tpsl })
  return outcome
}

/** Rests once all of them are as they should be. `of`: the order that placed them; `null` when they were there before. */
export async function heldTriggers(
  context: ActionContext,
  of: OrderToTranslate | null,
  sent: readonly SentTrigger[],
  ids: OrderIds,
): Promise<OrderStatusAnswer> {
  const settled = await Promise.all(sent.map((one) => settledTrigger(context, one)))
  if (settled.includes('failed')) {
    // Nothing stands behind the client's id: the same order again must not be taken for one that is there. A store that can't free it now changes
    // nothing about what failed: the client hears of that, and of its id when it uses it again.
    if (of !== null) await context.parts.store.transaction((sql) => freeCloid(sql, context, of)).catch(() => undefined)
    return { error: ERR.failed }
  }
  if (settled.every(Boolean)) return { resting: ids }
  return { resting: ids, pending: { oid: ids.oid, txHash: sent[settled.indexOf(false)]!.hash } }
}

/** A trigger that was placed before under the same client's id: it rests when the chain says so, which may take a moment. */
export async function triggerAnswer(
  context: ActionContext,
  oid: OrderId,
  cloid: string | null,
): Promise<Taken<OrderStatusAnswer>> {
  const { reads, orders } = context.parts
  const found = await reads.triggers.find(oid)
  if (found === undefined || found.isFormer) throw new ExchangeErr(ERR.dead)
  const { positionId, kind } = found
  await settledPosition(context, positionId, ({ trade }) => trade[kind] !== 0n)
  if ((orders.positions.find(positionId)?.state.trade[kind] ?? 0n) === 0n) throw new ExchangeErr(ERR.dead)
  const ids: OrderIds = { oid: Number(oid), ...(cloid === null ? {} : { cloid }) }
  return { isAwaited: false, status: Promise.resolve({ resting: ids }) }
}
