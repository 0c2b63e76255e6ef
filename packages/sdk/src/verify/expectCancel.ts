import { PendingOrderType, type Order, type Side } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import type { CallReader } from './createCallReader.ts'
import { expectOrderIndex } from './expectTradeIndex.ts'
import type { ChainFacts, PendingFacts, VerifyContext } from './verifyContext.ts'

const OPENING: readonly number[] = [PendingOrderType.MARKET_OPEN]
const CLOSING: readonly number[] = [PendingOrderType.MARKET_CLOSE, PendingOrderType.MARKET_PARTIAL_CLOSE]

/**
 * A limit or stop is taken back; a market request that timed out is reclaimed, each of its legs once, as they were made. How many legs a
 * reduce-only order has no answer tells, so a transaction that reclaims some of them passes: the order stays timed out, and the rest can
 * be reclaimed by another cancel.
 */
export function expectCancel(calls: CallReader, order: Order, context: VerifyContext): void {
  if (order.type !== 'market') {
    const [index] = calls.next('cancelOpenOrder')
    expectOrderIndex(index, order, context)
    return
  }
  let last = -1
  do {
    const [index] = calls.next('cancelOrderAfterTimeout')
    if (index <= last) throw new UnverifiedTransactionError('order index', `above ${last}`, String(index))
    last = index
    expectPending(index, order, context)
    // Only an order that closes several positions waits for several answers.
  } while (order.reduceOnly && !calls.isAtEnd)
}

/** The request that waits must be one of this market, side and kind. */
function expectPending(index: number, order: Order, { onChain, market }: VerifyContext): void {
  if (onChain === undefined) return
  const pending = onChain.pending.find((candidate) => candidate.index === index)
  const isIt =
    pending !== undefined &&
    pending.pairIndex === market.pairIndex &&
    (order.reduceOnly ? CLOSING : OPENING).includes(pending.orderType) &&
    sideOf(pending, onChain) === order.side
  if (isIt) return
  const found = pending === undefined ? `${index}, which waits for nothing` : `${index}, a request of another kind`
  throw new UnverifiedTransactionError('order index', `a request that looks as order ${order.id} does`, found)
}

/** The side that it trades: a close trades against the position it closes. */
function sideOf({ orderType, tradeIndex, long }: PendingFacts, { trades }: ChainFacts): Side | undefined {
  if (OPENING.includes(orderType)) return long ? 'long' : 'short'
  const closed = trades.find(({ index }) => index === tradeIndex)
  if (closed === undefined) return undefined
  return closed.long ? 'short' : 'long'
}
