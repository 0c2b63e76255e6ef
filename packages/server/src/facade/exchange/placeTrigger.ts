import { Price, type Decimal, type Hex, type OrderId } from '@bezel/protocol'
import { updatePosition } from '../../orders/updatePosition.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import type { Sql } from '../../store/sql.ts'
import { planUpdatePosition } from '../../trading/plan/planUpdatePosition.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { freeCloid, keepCloid } from './cloids.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import type { OrderIds, OrderStatusAnswer } from './exchangeAnswer.ts'
import type { ActionContext } from './exchangeParts.ts'
import { relayed, settledPosition, unlessFailed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import type { OrderToTranslate, TranslatedOrder } from './translateOrder.ts'

/**
 * Time for which a trigger that was sent counts as on its way to the chain, so that a change of it waits for its
 * arrival.
 */
const ON_ITS_WAY_MS = 60_000

/** The change of a position's take profit or stop loss. The price `"0"` removes it. */
export interface TriggerChange {
  readonly position: LivePosition
  readonly tpsl: TriggerKind
  readonly price: Decimal
}

/**
 * Sets the take profit or stop loss of positions. A position has one of each, so an existing one is replaced: its order
 * ends, and the new one has a new id. The answer names the order of the oldest position.
 */
export async function placeTrigger(
  context: ActionContext,
  of: OrderToTranslate,
  { tpsl, price, positions }: Extract<TranslatedOrder, { kind: 'trigger' }>,
): Promise<Taken<OrderStatusAnswer>> {
  const [first, ...others] = positions.map((position) => ({ position, tpsl, price }))
  if (first === undefined) throw new ExchangeErr(ERR.reduceOnly)
  requireTriggers(context, [first, ...others])
  const sent: SentTrigger[] = []
  // The oldest position comes last, together with the client order id: until that is stored, the client can send the
  // whole request again.
  for (const change of others.toReversed()) sent.push(await renewTrigger(context, change))
  const named = await renewTrigger(context, first, (sql, oid) => keepCloid(sql, context, of, oid))
  const ids: OrderIds = { oid: Number(named.oid), ...(of.item.cloid === null ? {} : { cloid: of.item.cloid }) }
  return { isAwaited: false, status: heldTriggers(context, of, [...sent, named], ids) }
}

/** Throws the refusal of the first trigger that can't be set, before any of them is sent. */
export function requireTriggers(context: ActionContext, changes: readonly TriggerChange[]): void {
  for (const change of changes) isSet(context, change)
}

/** Sends the change of one position, unless the price is already set, and makes an order with a new id of it. */
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
  if (isSet(context, change)) await store.transaction(renew)
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

/** Sends the change of one position, unless the price is already set. */
export async function setTrigger(
  context: ActionContext,
  change: TriggerChange,
  alsoKeep?: Parameters<typeof relayed>[2],
): Promise<SentTrigger> {
  if (isSet(context, change)) return { change, hash: null }
  const { position, tpsl, price } = change
  const body = { [tpsl]: price }
  const work = relayed(
    context,
    (write) => updatePosition(context.parts.orders, write, position.record.id, body),
    alsoKeep,
  )
  return { change, hash: (await work).hash }
}

/**
 * True when the position has what the chain would make of the price: it brings a stop loss that is too far away nearer.
 * Throws the refusal of a price that can't be set.
 */
function isSet({ parts }: Pick<ActionContext, 'parts'>, { position, tpsl, price }: TriggerChange): boolean {
  const stored = position.state.trade[tpsl]
  if (Price.parse(price) === stored) return true
  return planUpdatePosition(position, { [tpsl]: price }, parts.orders.trading()).changes[tpsl] === stored
}

/** Waits until the trigger has changed on the chain; one that would not change was not sent. */
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

/** Answers `resting` once all triggers are set. `of` is the order that placed them; `null` when they existed before. */
export async function heldTriggers(
  context: ActionContext,
  of: OrderToTranslate | null,
  sent: readonly SentTrigger[],
  ids: OrderIds,
): Promise<OrderStatusAnswer> {
  const settled = await Promise.all(sent.map((one) => settledTrigger(context, one)))
  if (settled.includes('failed')) {
    // The trigger was not placed, so the client order id is freed: the same order sent again must not be taken for one
    // that exists. When the store can't free it now, the client learns that when it uses the id again.
    if (of !== null) await context.parts.store.transaction((sql) => freeCloid(sql, context, of)).catch(() => undefined)
    return { error: ERR.failed }
  }
  if (settled.every(Boolean)) return { resting: ids }
  return { resting: ids, pending: { oid: ids.oid, txHash: sent[settled.indexOf(false)]!.hash } }
}

/**
 * Answers with a trigger that was placed earlier under the same client order id, waiting until the chain confirms it.
 */
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
