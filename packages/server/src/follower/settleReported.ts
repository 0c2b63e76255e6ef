import { findBlock } from '../store/blockStore.ts'
import { listAttemptsByHash, setMismatch, type StoredAttempt } from '../store/attemptStore.ts'
import { orderEventsOf } from '../store/orderEventStore.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'
import type { Receipt } from '../chain/chainBlock.ts'
import { adoptOrder } from './adoptOrder.ts'
import { addReverted } from './reverted.ts'

/**
 * A reported transaction that is mined and still has not made its order known: it failed; or it was mined before it was reported and the
 * order it made counts as made elsewhere; or it is something else altogether. Comes after the block's own transactions.
 */
export async function settleReported(scope: BlockScope, receipt: Receipt): Promise<void> {
  const place = await placeOf(scope, receipt)
  if (place === undefined) return
  for (const found of await listAttemptsByHash(scope.sql, scope.chain, receipt.txHash, null)) {
    const isItsOwn = receipt.isReverted
      ? await addReverted(scope, found, place)
      : (await isAnswered(scope, found, receipt)) || (await adoptOrder(scope, found, receipt.txHash))
    if (isItsOwn) continue
    await setMismatch(scope.sql, found.attempt.id)
    scope.touchOrder(found.orderId)
  }
}

/** `undefined` while the block it is in is not applied, or is not part of the chain as it is followed. */
async function placeOf({ sql, chain, block }: BlockScope, receipt: Receipt): Promise<ChainPlace | undefined> {
  const { blockNumber, blockHash, txHash } = receipt
  if (blockNumber > block.number) return undefined
  const applied = blockNumber === block.number ? block : await findBlock(sql, chain, blockNumber)
  if (applied !== undefined && applied.hash !== blockHash) return undefined
  // Of a block too old to be kept the time is not known; this one's is what the order moves at.
  const { timestampMs } = applied ?? block
  return { blockNumber, blockHash, logIndex: -1 - receipt.index, txHash, timestampMs }
}

async function isAnswered({ sql }: BlockScope, { orderId }: StoredAttempt, { txHash }: Receipt): Promise<boolean> {
  const events = await orderEventsOf(sql, orderId)
  return events.some((event) => event.txHash === txHash)
}
