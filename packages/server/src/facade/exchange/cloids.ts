import { ApiError, type OrderId } from '@bezel/protocol'
import { findAttempt } from '../../store/attemptStore.ts'
import { deleteCloid, insertCloid, readCloid, type CloidKey } from '../../store/facadeCloidStore.ts'
import { insertInheriting, type TriggerKind } from '../../store/facadeTriggerStore.ts'
import { findOrderByClientId } from '../../store/orderStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { ActionContext } from './exchangeParts.ts'
import type { AlsoKeep } from './relayed.ts'
import type { OrderToTranslate } from './translateOrder.ts'

// Client order ids (cloids). A client that got no answer sends the same order again under the same cloid and must not
// get a second order. The comparison covers the request as the client wrote it, because its native translation depends
// on the current mark and on the leverage chosen at the time.

/** Returns a text that is equal for equal orders, however their numbers were written. */
function askedText({ item, attached, isOfPosition }: OrderToTranslate): string {
  const { asset, isBuy, px, sz, reduceOnly, terms } = item
  return JSON.stringify([
    asset,
    isBuy,
    px,
    sz,
    reduceOnly,
    terms,
    attached.tp ?? null,
    attached.sl ?? null,
    isOfPosition,
  ])
}

/**
 * Finds the order that the cloid already stands for; `undefined` when the cloid is free. Throws `IDEMPOTENCY_CONFLICT`
 * when it stands for a different order.
 */
export async function findAsked(context: ActionContext, of: OrderToTranslate): Promise<OrderId | undefined> {
  const { cloid } = of.item
  if (cloid === null) return undefined
  const { parts, agent } = context
  // Read before the cloid, which is stored together with its order: one that is stored meanwhile is found by its cloid.
  const known = await findOrderByClientId(parts.store.read, agent.chain, agent.trader, cloid)
  const kept = await readCloid(parts.store.read, keyOf(context, cloid))
  if (kept !== undefined) {
    if (kept.asked !== askedText(of)) throw duplicate(cloid)
    return kept.oid
  }
  // An order that was made natively has terms of its own, which can't be compared.
  if (known !== undefined) throw duplicate(cloid)
  return undefined
}

/** Finds the order or trigger that a cloid stands for, made through the facade or natively. */
export async function findByCloid({ parts, agent }: ActionContext, cloid: string): Promise<OrderId | undefined> {
  const kept = await readCloid(parts.store.read, { chain: agent.chain, trader: agent.trader, cloid })
  if (kept !== undefined) return kept.oid
  return (await findOrderByClientId(parts.store.read, agent.chain, agent.trader, cloid))?.record.id
}

/**
 * Returns the work that stores the client's request with the order made from it, and which triggers its trade takes
 * over from the position that it adds to.
 */
export function keepOrderTerms(
  context: ActionContext,
  of: OrderToTranslate,
  inherits: readonly TriggerKind[],
): AlsoKeep {
  return async (sql, attempt) => {
    if (of.item.cloid === null && inherits.length === 0) return
    const made = await findAttempt(sql, attempt.id)
    if (made === undefined) return
    await keepCloid(sql, context, of, made.orderId)
    if (inherits.length > 0)
      await insertInheriting(sql, context.agent.chain, { orderId: made.orderId, kinds: inherits })
  }
}

/**
 * Stores a cloid. Throws `IDEMPOTENCY_CONFLICT` when another request stored it first, which undoes the whole
 * transaction.
 */
export async function keepCloid(sql: Sql, context: ActionContext, of: OrderToTranslate, oid: OrderId): Promise<void> {
  const { cloid } = of.item
  if (cloid === null) return
  if (!(await insertCloid(sql, keyOf(context, cloid), { asked: askedText(of), oid }))) throw duplicate(cloid)
}

/** Frees the cloid of an order that never came to be. */
export async function freeCloid(sql: Sql, context: ActionContext, { item }: OrderToTranslate): Promise<void> {
  if (item.cloid !== null) await deleteCloid(sql, keyOf(context, item.cloid))
}

function keyOf({ agent }: ActionContext, cloid: string): CloidKey {
  return { chain: agent.chain, trader: agent.trader, cloid }
}

/** Returns the refusal of a cloid whose order is over: an id is used once, also for the same order again. */
export function duplicateText(oid: OrderId, state: string): string {
  return `Duplicate cloid: the order that it stands for, oid ${oid}, ${state}. Use a new cloid for a new order.`
}

function duplicate(cloid: string): ApiError {
  return new ApiError('IDEMPOTENCY_CONFLICT', 'This cloid was used for another order.', { clientId: cloid })
}
