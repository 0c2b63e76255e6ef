import { Price, type Decimal, type Hex, type OrderId } from '@bezel/protocol'
import { listClosing, updatePositions } from '../../orders/updatePosition.ts'
import { insertRestore } from '../../store/facadeChoreStore.ts'
import type { TriggerKind } from '../../store/facadeTriggerStore.ts'
import type { Sql } from '../../store/sql.ts'
import { isTight } from '../../trading/plan/closingSlippage.ts'
import { MAX_CALLS } from '../../trading/plan/encodeCall.ts'
import { planUpdatePosition } from '../../trading/plan/planUpdatePosition.ts'
import type { LivePosition, PositionState } from '../../trading/positions/positionModel.ts'
import { wholeKeyOf } from '../triggers.ts'
import { duplicateText, freeCloid, keepCloid } from './cloids.ts'
import { ERR, ExchangeErr, refusalText } from './errStrings.ts'
import type { OrderIds, OrderStatusAnswer } from './exchangeAnswer.ts'
import { presentOf, scopeOf, type ActionContext } from './exchangeParts.ts'
import type { TriggerTarget } from './ownTarget.ts'
import { relayed, settledPosition, unlessFailed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import type { OrderToTranslate, TranslatedOrder } from './translateOrder.ts'

/** The change of the take profit or stop loss of trades of one coin and side. The price `"0"` removes it. */
interface TriggerChange {
  readonly parts: readonly LivePosition[]
  readonly tpsl: TriggerKind
  readonly price: Decimal
}

/**
 * Sets the take profit or stop loss of a position, which is that of all its trades. A position has one of each, so an
 * existing one is replaced: its order ends, and the new one has a new id.
 */
export async function placeTrigger(
  context: ActionContext,
  of: OrderToTranslate,
  { tpsl, price, positions: parts }: Extract<TranslatedOrder, { kind: 'trigger' }>,
): Promise<Taken<OrderStatusAnswer>> {
  if (parts.length === 0) throw new ExchangeErr(ERR.reduceOnly)
  const sent = await assignTrigger(context, { parts, tpsl, price, isWhole: true }, (sql, made) =>
    keepCloid(sql, context, of, made),
  )
  return { isAwaited: false, status: heldTrigger(context, of, sent) }
}

/**
 * Sends the change of a trigger order and stores the order with it: a new one, or the one with the id `oid`. `alsoKeep`
 * is stored with the last transaction: until then, the client can send the whole request again.
 */
export async function assignTrigger(
  context: ActionContext,
  { oid, isWhole, ...change }: TriggerChange & { readonly oid?: OrderId; readonly isWhole: boolean },
  alsoKeep: AlsoKept['last'] = async () => {},
): Promise<SentChange> {
  const { triggers } = context.parts.reads
  const { parts, tpsl: kind } = change
  const terms = {
    parts,
    kind,
    price: Price.parseTruncated(change.price),
    isWhole,
    ...(oid === undefined ? {} : { oid }),
  }
  return sendChange(context, change, { first: (sql) => triggers.assign(sql, terms), last: alsoKeep })
}

const NO_TRIGGER = '0' as Decimal

/**
 * Removes a trigger order: from all trades of the position when it was placed for all of them, else from its own. While
 * the removal is on its way, a trade that is added then does not inherit what no trade will have any more.
 */
export async function removeTrigger(
  context: ActionContext,
  { oid, tpsl, whole, isOfWhole, ...target }: TriggerTarget,
): Promise<SentChange> {
  const { triggers } = context.parts.reads
  const parts = isOfWhole ? whole : target.parts
  const isLast = whole.every((trade) => parts.includes(trade) || trade.state.trade[tpsl] === 0n)
  return sendChange(
    context,
    { parts, tpsl, price: NO_TRIGGER },
    {
      async first(sql) {
        if (isLast) await triggers.remove(sql, wholeKeyOf(parts[0]!, tpsl), oid)
        return oid
      },
      last: async () => {},
    },
  )
}

/** The change of a trigger order, which may take several transactions. */
export interface SentChange {
  readonly oid: OrderId
  readonly sent: readonly SentTrigger[]
}

/** A transaction that changes triggers. */
interface SentTrigger {
  readonly tpsl: TriggerKind
  readonly moves: readonly TriggerMove[]
  readonly hash: Hex | null
  /** True when another change was on its way before this one. */
  readonly isAfterOther: boolean
}

/** The change of the trigger of one trade, between the prices as the chain keeps them. */
interface TriggerMove {
  readonly part: LivePosition
  readonly to: Price
}

/** Work that is stored with the first and with the last transaction of a change, which may be the same. */
interface AlsoKept {
  /** Returns the id of the trigger order. */
  readonly first: (sql: Sql) => Promise<OrderId>
  readonly last: (sql: Sql, oid: OrderId) => Promise<void>
}

/** Thrown when another request has changed the trigger since it was looked at. Nothing was sent. */
class ChangedMeanwhileError extends Error {}

/** Sends a change, planned again as long as others are sent at the same time: a plan builds on what was sent before. */
async function sendChange(...of: Parameters<typeof trySendChange>): Promise<SentChange> {
  for (;;) {
    try {
      return await trySendChange(...of)
    } catch (error) {
      if (!(error instanceof ChangedMeanwhileError)) throw error
    }
  }
}

/**
 * Sends the change of those trades that do not have the price already, or could not execute it, in as few transactions
 * as hold it. A closing slippage that a waiting close needs is left alone, and a chore puts it back afterwards. While
 * another change is on its way, what the trades have says nothing, so all of them are changed. Throws the refusal of
 * the first trade that can't have the price, before anything is sent, and `ChangedMeanwhileError`.
 */
async function trySendChange(
  context: ActionContext,
  { parts, tpsl, price }: TriggerChange,
  { first, last }: AlsoKept,
): Promise<SentChange> {
  const { orders, store, reads, relayer } = context.parts
  const key = wholeKeyOf(parts[0]!, tpsl)
  const sentBefore = await reads.triggers.lastSent(store.read, key)
  const isAfterOther = (await reads.triggers.onItsWay(key, relayer)) !== undefined
  // What was on its way may have arrived while it was asked for.
  const asked = presentOf(orders, parts).map((part) => ({ part, to: keptPrice(context, part, tpsl, price) }))
  const tight = asked.filter(isRestoring).map(({ part }) => part)
  const closing = await listClosing(orders, tight)
  const isStale = (move: TriggerMove): boolean => isRestoring(move) && !closing.has(move.part.record.id)
  const moves = asked.filter((move) => isAfterOther || move.to !== move.part.state.trade[tpsl] || isStale(move))
  const batches = inTransactions(moves)
  let oid: OrderId | undefined
  const sent: SentTrigger[] = []
  const keep = async (sql: Sql, at: number): Promise<void> => {
    if (at === 0) {
      if ((await reads.triggers.lastSent(sql, key)) !== sentBefore) throw new ChangedMeanwhileError()
      oid = await first(sql)
      for (const { record } of tight) await insertRestore(sql, record.chain, record.id)
    }
    if (at >= batches.length - 1) await last(sql, oid!)
  }
  if (batches.length === 0) await store.transaction(scopeOf(context), (sql) => keep(sql, 0))
  for (const [at, some] of batches.entries()) {
    const changes = some.map(({ part }) => ({ id: part.record.id, body: { [tpsl]: price } }))
    const { hash } = await relayed(
      context,
      (write) => updatePositions(orders, write, changes),
      async (sql, _, sending) => {
        await keep(sql, at)
        await reads.triggers.sent(sql, key, { oid: oid!, price: Price.parseTruncated(price), hash: sending })
      },
    ).catch((error: unknown) => {
      throw refusedAfter(context, error, { done: batches.slice(0, at).flat().length, all: moves.length })
    })
    reads.triggers.forget({ kind: tpsl, parts })
    sent.push({ tpsl, moves: some, hash, isAfterOther })
  }
  reads.triggers.forget({ kind: tpsl, parts })
  return { oid: oid!, sent }
}

/**
 * True when the change puts back the closing slippage of the trade, under which the trigger would not execute, unless a
 * close waits.
 */
function isRestoring({ part, to }: TriggerMove): boolean {
  return to !== 0n && isTight(part)
}

/** Splits moves into as few transactions as hold their calls. */
function inTransactions(moves: readonly TriggerMove[]): readonly (readonly TriggerMove[])[] {
  const batches: TriggerMove[][] = []
  let room = 0
  for (const move of moves) {
    const calls = isRestoring(move) ? 2 : 1
    if (calls > room) {
      batches.push([])
      room = MAX_CALLS
    }
    batches.at(-1)!.push(move)
    room -= calls
  }
  return batches
}

/** Returns the error of a transaction; a refusal says how many trades are changed by the transactions before it. */
function refusedAfter(
  { agent }: Pick<ActionContext, 'agent'>,
  error: unknown,
  { done, all }: { readonly done: number; readonly all: number },
): unknown {
  const text = done === 0 ? undefined : refusalText(error, agent)
  if (text === undefined) return error
  return new ExchangeErr(`${text} The change of ${done} of ${all} trades was sent before.`, { cause: error })
}

/**
 * Returns what the chain would make of the price: it brings a stop loss that is too far away nearer. Throws the refusal
 * of a price that can't be set.
 */
function keptPrice(
  { parts }: Pick<ActionContext, 'parts'>,
  position: LivePosition,
  tpsl: TriggerKind,
  price: Decimal,
): Price {
  const stored = position.state.trade[tpsl]
  if (Price.parse(price) === stored) return stored
  return planUpdatePosition(position, { [tpsl]: price }, parts.orders.trading()).changes[tpsl]!
}

/**
 * Waits until the trades have changed on the chain, and says so of each transaction: false when that takes longer than
 * the answer is held.
 */
export async function settledChange(
  context: ActionContext,
  { sent }: SentChange,
): Promise<readonly (boolean | 'failed')[]> {
  const outcomes = await Promise.all(sent.map((one) => settledTrigger(context, one)))
  const last = sent.at(-1)?.hash ?? null
  if (last !== null && !outcomes.includes(false)) context.parts.reads.triggers.settled(last)
  return outcomes
}

function settledTrigger(
  context: ActionContext,
  { tpsl, moves, hash, isAfterOther }: SentTrigger,
): Promise<boolean | 'failed'> {
  const settled = moves.map(({ part, to }) => {
    const { record, state } = part
    // The closing slippage belongs to the position, so any other transaction may put it back. It says something of this
    // change only where nothing else can be seen of it.
    const isOfSlippage = !isAfterOther && to === state.trade[tpsl] && isTight(part)
    let isMoved = false
    const isDone = (now: PositionState): boolean => {
      isMoved ||= now.trade[tpsl] !== state.trade[tpsl] || (isOfSlippage && !isTight({ state: now }))
      return isMoved && (!isAfterOther || now.trade[tpsl] === to)
    }
    return settledPosition(context, record.id, isDone).catch(() => false)
  })
  return unlessFailed(
    context,
    hash,
    Promise.all(settled).then((each) => each.every(Boolean)),
  )
}

/** Returns the text of a change of which a transaction failed on the chain; `undefined` when none did. */
export function failedText({ sent }: SentChange, outcomes: readonly (boolean | 'failed')[]): string | undefined {
  if (!outcomes.includes('failed')) return undefined
  if (outcomes.every((outcome) => outcome === 'failed')) return ERR.failed
  const count = (some: readonly SentTrigger[]): number => some.reduce((sum, { moves }) => sum + moves.length, 0)
  const done = count(sent.filter((_, at) => outcomes[at] === true))
  return `A transaction failed on chain: ${done} of ${count(sent)} trades have changed. Look at the order again.`
}

/** Answers `resting` once the trigger is set. `of` is the order that placed it; `null` when it existed before. */
export async function heldTrigger(
  context: ActionContext,
  of: OrderToTranslate | null,
  change: SentChange,
): Promise<OrderStatusAnswer> {
  const cloid = of?.item.cloid ?? null
  const ids: OrderIds = { oid: Number(change.oid), ...(cloid === null ? {} : { cloid }) }
  const settled = await settledChange(context, change)
  const error = failedText(change, settled)
  if (error !== undefined) {
    // The trigger was not placed, so the client order id is freed: the same order sent again must not be taken for one
    // that exists. When the store can't free it now, the client learns that when it uses the id again.
    if (of !== null)
      await context.parts.store
        .transaction(scopeOf(context), (sql) => freeCloid(sql, context, of))
        .catch(() => undefined)
    return { error }
  }
  if (settled.every(Boolean)) return { resting: ids }
  return { resting: ids, pending: { oid: ids.oid, txHash: change.sent[settled.indexOf(false)]!.hash } }
}

/**
 * Answers with a trigger that was placed earlier under the same client order id, waiting until the chain confirms it.
 * Throws while it does not, and when the trigger is over, because the id is used up.
 */
export async function triggerAnswer(
  context: ActionContext,
  oid: OrderId,
  cloid: string | null,
): Promise<Taken<OrderStatusAnswer>> {
  const { reads, orders, relayer } = context.parts
  const { kind, parts } = (await reads.triggers.find(oid)) ?? { kind: 'tp' as const, parts: [] }
  await Promise.all(parts.map((id) => settledPosition(context, id, ({ trade }) => trade[kind] !== 0n)))
  const isSetOn = (id: OrderId): boolean => (orders.positions.find(id)?.state.trade[kind] ?? 0n) !== 0n
  if (!parts.some(isSetOn)) {
    const first = parts.map((id) => orders.positions.find(id)).find((position) => position !== undefined)
    const change = first && (await reads.triggers.onItsWay(wholeKeyOf(first, kind), relayer))
    const isOnItsWay = change?.oid === oid && change.price !== 0n
    throw new ExchangeErr(duplicateText(oid, isOnItsWay ? 'is not on the chain yet' : 'is over'))
  }
  const ids: OrderIds = { oid: Number(oid), ...(cloid === null ? {} : { cloid }) }
  return { isAwaited: false, status: Promise.resolve({ resting: ids }) }
}
