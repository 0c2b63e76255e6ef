import type { Decimal, OrderId } from '@bezel/protocol'
import { cancelOrder } from '../../orders/cancelOrder.ts'
import { attemptsOf } from '../../store/attemptStore.ts'
import type { CancelStatusAnswer } from './exchangeAnswer.ts'
import { ERR } from './errStrings.ts'
import type { ActionContext } from './exchangeParts.ts'
import { ownTarget } from './ownTarget.ts'
import { setTrigger, settledTrigger } from './placeTrigger.ts'
import { relayed } from './relayed.ts'
import type { Taken } from './runBatch.ts'
import { settledOrder } from './settled.ts'

/** A cancel that is younger is still on its way to the chain: another one would only cost gas and fail. */
const ON_ITS_WAY_MS = 15_000

const NO_TRIGGER = '0' as Decimal

/** Cancels an order, or a take profit or stop loss. Throws what it is refused for. */
export async function cancelOne(
  context: ActionContext,
  of: { readonly asset: number; readonly oid: OrderId | undefined },
): Promise<Taken<CancelStatusAnswer>> {
  const target = await ownTarget(context, of.oid, of.asset)
  if (target.kind === 'order') {
    await sendCancel(context, target.record.id)
    return { isAwaited: true, status: heldCancel(context, target.record.id) }
  }
  const sent = await setTrigger(context, { ...target, price: NO_TRIGGER })
  return { isAwaited: true, status: settledTrigger(context, sent).then(() => 'success') }
}

/** Unless it was sent a moment ago. */
export async function sendCancel(context: Omit<ActionContext, 'deadlineMs'>, id: OrderId): Promise<void> {
  if (await isOnItsWay(context, id)) return
  await relayed(context, (write) => cancelOrder(context.parts.orders, write, id))
}

async function isOnItsWay({ parts }: Pick<ActionContext, 'parts'>, id: OrderId): Promise<boolean> {
  const attempts = await attemptsOf(parts.store.read, id)
  return attempts.some(
    ({ kind, submittedHash, createdAtMs }) =>
      kind === 'cancel' && submittedHash !== null && parts.now() - createdAtMs < ON_ITS_WAY_MS,
  )
}

/** What was filled before the cancel came is over in another way than was asked for. */
async function heldCancel(context: ActionContext, id: OrderId): Promise<CancelStatusAnswer> {
  const state = await settledOrder(context, id, ({ status }) => status !== 'open' && status !== 'prepared').catch(
    () => undefined,
  )
  return state?.status === 'filled' ? { error: ERR.dead } : 'success'
}
