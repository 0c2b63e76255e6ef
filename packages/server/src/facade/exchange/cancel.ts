import type { Hex, OrderId } from '@bezel/protocol'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { listAttempts } from '../../store/attemptStore.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { ExchangeAction } from '../signing/envelope.ts'
import { ERR } from './errStrings.ts'
import { cancelsAnswer, type ExchangeAnswer, type CancelStatusAnswer } from './exchangeAnswer.ts'
import type { RunAction, ActionContext } from './exchangeParts.ts'
import { assetAt, listAt, objectAt, oidAt } from './fields.ts'
import { ownTarget } from './ownTarget.ts'
import { failedText, removeTrigger, settledChange } from './placeTrigger.ts'
import { relayed, settledOrder, unlessFailed } from './relayed.ts'
import { requireBatch, runBatch, type Taken } from './runBatch.ts'

/**
 * Age in ms below which a cancel that was sent counts as on its way to the chain: another one would only cost gas and
 * fail.
 */
const ON_ITS_WAY_MS = 15_000

/** Cancels orders by their ids. */
export function cancel(action: ExchangeAction): RunAction<ExchangeAnswer> {
  const items = requireBatch(listAt(action.cancels, 'action.cancels'), 'cancels').map(readCancel)
  return async (context) => {
    const statuses = await runBatch(context, items, {
      keyOf: ({ oid }) => String(oid),
      suffixOf: () => '',
      take: (item) => cancelOne(context, item),
    })
    return cancelsAnswer(statuses)
  }
}

function readCancel(value: JsonValue, at: number) {
  const path = `action.cancels[${at}]`
  const item = objectAt(value, path)
  return { asset: assetAt(item.a, `${path}.a`), oid: oidAt(item.o, `${path}.o`) }
}

/**
 * Cancels an order, or a take profit or stop loss of all the trades that it stands for. Throws the refusal.
 */
export async function cancelOne(
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
