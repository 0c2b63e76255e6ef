import type { Hex, OrderId } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { requireActing } from '../../orders/signedWrite.ts'
import { listAttempts } from '../../store/attemptStore.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import { clearSchedule, saveSchedule } from '../../store/facadeChoreStore.ts'
import { type ExchangeAction, isAbsent } from '../signing/envelope.ts'
import { ERR, ExchangeErr } from './errStrings.ts'
import { cancelsAnswer, type ExchangeAnswer, type CancelStatusAnswer, OK_DEFAULT } from './exchangeAnswer.ts'
import type { RunAction, ActionContext } from './exchangeParts.ts'
import { assetAt, listAt, objectAt, oidAt, cloidAt, integerAt } from './fields.ts'
import { ownTarget } from './ownTarget.ts'
import { failedText, removeTrigger, settledChange } from './placeTrigger.ts'
import { relayed, settledOrder, unlessFailed } from './relayed.ts'
import { requireBatch, runBatch, type Taken } from './runBatch.ts'
import { findByCloid } from './cloids.ts'

/**
 * Age in ms below which a cancel that was sent counts as on its way to the chain: another one would only cost gas and
 * fail.
 */
const ON_ITS_WAY_MS = 15_000

/** The shortest time ahead. With less, a client could not be sure to call the cancel off in time. */
const MIN_AHEAD_MS = 5_000

/** Cancels orders by their ids. */
export function cancel(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = requireBatch(listAt(action.cancels, 'action.cancels'), 'cancels').map(readCancel)
  return cancelEach(items, ({ oid }) => String(oid), cancelOne)
}

function readCancel(value: JsonValue, at: number) {
  const path = `action.cancels[${at}]`
  const item = objectAt(value, path)
  return { asset: assetAt(item.a, `${path}.a`), oid: oidAt(item.o, `${path}.o`) }
}

/** Cancels orders by their client ids. */
export function cancelByCloid(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = requireBatch(listAt(action.cancels, 'action.cancels'), 'cancels').map(readCancelByCloid)
  return cancelEach(
    items,
    ({ cloid }) => cloid,
    async (context, { asset, cloid }) => cancelOne(context, { asset, oid: await findByCloid(context, cloid) }),
  )
}

function readCancelByCloid(value: JsonValue, at: number) {
  const path = `action.cancels[${at}]`
  const item = objectAt(value, path)
  return { asset: assetAt(item.asset, `${path}.asset`), cloid: cloidAt(item.cloid, `${path}.cloid`) }
}

/** Returns the run of a batch of cancels, each known by its key. */
function cancelEach<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  take: (context: ActionContext, item: Item) => ReturnType<typeof cancelOne>,
): RunAction<ExchangeAnswer> {
  return async (context) =>
    cancelsAnswer(await runBatch(context, items, { keyOf, suffixOf: () => '', take: (item) => take(context, item) }))
}

/**
 * Schedules the cancel of all resting orders of the trader, in place of an earlier schedule. Without a time it removes
 * the schedule.
 */
export function scheduleCancel(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const dueAtMs = isAbsent(action.time) ? null : integerAt(action.time, 'action.time')
  return async ({ parts, agent }) => {
    const { chain, trader } = agent
    if (dueAtMs !== null && dueAtMs < parts.now() + MIN_AHEAD_MS) {
      throw new ExchangeErr(`Scheduled cancel time must be at least ${MIN_AHEAD_MS / 1000} seconds from now.`)
    }
    await parts.store.transaction({ chain, trader }, async (sql) => {
      await requireActing(sql, agent, { nowMs: parts.now() })
      if (dueAtMs === null) await clearSchedule(sql, chain, trader)
      else await saveSchedule(sql, { chain, trader, agent: agent.agent, dueAtMs })
    })
    return OK_DEFAULT
  }
}

/**
 * Cancels an order, or a take profit or stop loss of all the trades that it stands for. Throws the refusal.
 */
async function cancelOne(
  context: ActionContext,
  of: { readonly asset: number; readonly oid: OrderId | undefined },
): Promise<Taken<CancelStatusAnswer>> {
  const target = await ownTarget(context, of.oid, of.asset)
  if (target.kind === 'order') {
    const hash = await sendCancel(context, target.record.id)
    return { isAwaited: true, status: heldCancel(context, target.record.id, hash) }
  }
  const change = await removeTrigger(context, target)
  const status = settledChange(context, change).then((outcomes) => {
    const error = failedText(change, outcomes)
    return error === undefined ? ('success' as const) : { error }
  })
  return { isAwaited: true, status }
}

/**
 * Sends a cancel, unless one younger than `onItsWayMs` was sent already. Returns the transaction hash, or `null` when
 * nothing was sent.
 */
export async function sendCancel(
  context: Omit<ActionContext, 'deadlineMs'>,
  id: OrderId,
  onItsWayMs = ON_ITS_WAY_MS,
): Promise<Hex | null> {
  const onItsWay = await hashOnItsWay(context, id, onItsWayMs)
  if (onItsWay !== undefined) return onItsWay
  return (await relayed(context, (write) => cancelOrder(context.parts.orders, write, id))).hash
}

async function hashOnItsWay(
  { parts }: Pick<ActionContext, 'parts'>,
  id: OrderId,
  onItsWayMs: number,
): Promise<Hex | undefined> {
  const attempts = await listAttempts(parts.store.read, id)
  const nowMs = parts.now()
  const found = attempts.find(
    ({ kind, submittedHash, createdAtMs, expiresAtMs }) =>
      kind === 'cancel' && submittedHash !== null && nowMs - createdAtMs < onItsWayMs && nowMs < expiresAtMs,
  )
  return found?.submittedHash ?? undefined
}

/** Waits until the order has ended. An order that was filled before the cancel arrived is answered with an error. */
async function heldCancel(context: ActionContext, id: OrderId, hash: Hex | null): Promise<CancelStatusAnswer> {
  const isDone = ({ status }: OrderState): boolean => status !== 'open' && status !== 'prepared'
  // The cancel is stored and will be sent, so failing to read the order's end now does not mean that the cancel failed.
  const settled = settledOrder(context, id, isDone).catch(() => undefined)
  const state = await unlessFailed(context, hash, settled)
  if (state === 'failed') return { error: ERR.failed }
  return state?.status === 'filled' ? { error: ERR.dead } : 'success'
}
