import type { EventOf } from '../chain/events/index.ts'
import { addOrderEvent, orderByHandle } from './addByHandle.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { refusalReason } from './refusalReason.ts'
import type { TransactionScope } from './transactionScope.ts'

/** The oracle's answer found that a request can't be done. */
export async function applyRefused(
  tx: TransactionScope,
  {
    args,
    logIndex,
  }: EventOf<
    'MarketOpenCanceled' | 'MarketCloseCanceled' | 'PositionSizeIncreaseExecuted' | 'PositionSizeDecreaseExecuted'
  > &
    PlacedEvent,
): Promise<void> {
  const { user: trader, index: pendingIndex } = args.orderId
  const orderId = await orderByHandle(tx, trader, `pending:${pendingIndex}`)
  if (orderId === undefined) return
  const body = { kind: 'refused', pendingIndex, reason: refusalReason(args.cancelReason) } as const
  await addOrderEvent(tx, { trader, orderId, logIndex, body, isByTrader: false })
}
