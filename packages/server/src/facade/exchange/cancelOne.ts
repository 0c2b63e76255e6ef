import type { Decimal, Hex, OrderId } from '@bezel/protocol'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { attemptsOf } from '../../store/attemptStore.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { CancelStatusAnswer } from './exchangeAnswer.ts'
import { ERR } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'
import { ownTarget } from './ownTarget.ts'
import { setTrigger, settledTrigger } from './placeTrigger.ts'
import { relayed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import { settledOrder, unlessFailed } from './settled.ts'

/** A cancel that is younger, and still wanted, is on its way to the chain: another one would only cost gas and fail. */
const ON_ITS_WAY_MS = 15_000

const NO_TRIGGER = '0' as Decimal

/** Cancels an order, or a take profit or stop loss. Throws what it is refused for. */
export async function cancelOne(
  context: ActionContext,
  of: { readonly asset: number; readonly oid: OrderId | undefined },
): Promise<Taken<CancelStatusAnswer>> {
  const target = await ownTarget(context, of.oid, of.asset)
  if (target.kind === 'order') {
    const hash = await sendCancel(context, target.record.id)
    return { isAwaited: true, status: heldCancel(context, target.record.id, hash) }
  }
  const sent = await setTrigger(context, { ...target, price: NO_TRIGGER })
  const status = settledTrigger(context, sent).then((settled) =>
    settled === 'failed' ? { error: ERR.failed } : ('success' as const),
  )
  return { isAwaited: true, status }
}

/** Unless one was sent that is younger than `onItsWayMs`. The hash of what was sent. */
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
  const attempts = await attemptsOf(parts.store.read, id)
  const nowMs = parts.now()
  const found = attempts.find(
    ({ kind, submittedHash, createdAtMs, expiresAtMs }) =>
      kind === 'cancel' && submittedHash !== null && nowMs - createdAtMs < onItsWayMs && nowMs < expiresAtMs,
  )
  return found?.submittedHash ?? undefined
}

/** What was filled before the cancel came is over in another way than was asked for. */
async function heldCancel(context: ActionContext, id: OrderId, hash: Hex | null): Promise<CancelStatusAnswer> {
  const isDone = ({ status }: OrderState): boolean => status !== 'open' && status !== 'prepared'
  // It is kept and will be sent: that its end can't be read now is no reason to say that it failed.
  const settled = settledOrder(context, id, isDone).catch(() => undefined)
  const state = await unlessFailed(context, hash, settled)
  if (state === 'failed') return { error: ERR.failed }
  return state?.status === 'filled' ? { error: ERR.dead } : 'success'
}
