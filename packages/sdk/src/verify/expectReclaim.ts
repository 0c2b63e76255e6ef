import { REQUESTS_ON_TRADE, type Position } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import type { CallReader } from './decodeCalls.ts'
import { expectPositionIndex } from './expectTradeIndex.ts'
import type { PendingFacts, VerifyContext } from './verifyContext.ts'

/**
 * Checks for the reclaim of a request of this position that timed out: it stands in the way of a close or another
 * change, which would revert without it. Returns the index of the trade it belongs to; `undefined` when there is no
 * reclaim, or the chain can't be read.
 */
export function expectReclaim(calls: CallReader, position: Position, context: VerifyContext): number | undefined {
  const isDue = position.pendingUpdate?.status === 'timed_out' && isStillThere(context)
  if (!isDue && !calls.isNext('cancelOrderAfterTimeout')) return undefined
  return reclaimOf(calls, position, context)?.tradeIndex
}

/** Returns false when the chain shows that nothing waits any more: an answer may come late. */
function isStillThere({ onChain, market }: VerifyContext): boolean {
  return onChain === undefined || onChain.pending.some((pending) => isOfATrade(pending, market.pairIndex))
}

function isOfATrade({ pairIndex, orderType }: PendingFacts, ofPair: number): boolean {
  return pairIndex === ofPair && REQUESTS_ON_TRADE.has(orderType)
}

/** Checks for the reclaim of the position's pending change and nothing else. */
export function expectUpdateCancel(calls: CallReader, position: Position, context: VerifyContext): void {
  const pending = reclaimOf(calls, position, context)
  if (pending !== undefined) expectPositionIndex(pending.tradeIndex, position, context)
}

/** Without a reader of the chain it can be checked only that the position, as read before, waits for something. */
function reclaimOf(
  calls: CallReader,
  position: Position,
  { onChain, market }: VerifyContext,
): PendingFacts | undefined {
  const [index] = calls.next('cancelOrderAfterTimeout')
  if (onChain === undefined) {
    if ((position.pendingUpdate ?? null) !== null) return undefined
    const expected = `no reclaim, since position ${position.id} waits for nothing`
    throw new UnverifiedTransactionError('order index', expected, String(index))
  }
  const pending = onChain.pending.find((candidate) => candidate.index === index)
  if (pending !== undefined && isOfATrade(pending, market.pairIndex)) return pending
  const found = pending === undefined ? `${index}, which waits for nothing` : `${index}, a request of another kind`
  throw new UnverifiedTransactionError('order index', `a request of position ${position.id}`, found)
}
