import {
  BaseSize,
  DEFAULT_SLIPPAGE,
  Leverage,
  PendingOrderType,
  type Order,
  type Position,
  type Side,
  type UpdateOrderRequest,
  type UpdatePositionRequest,
} from '@bezel/protocol/wire'
import type { CallReader } from './decodeCalls.ts'
import { expectSame } from './expect.ts'
import { expectHeldAmount } from './expectAmount.ts'
import { expectReclaim } from './expectReclaim.ts'
import { expectOpening } from './expectOpening.ts'
import { expectOrderIndex, expectPositionIndex } from './expectTradeIndex.ts'
import { collateralUnits, scaled, slippageUnits, triggerUnits } from './scales.ts'
import type { VerifyContext, ChainFacts, PendingFacts } from './verifyContext.ts'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'

const OPENING: readonly number[] = [PendingOrderType.MARKET_OPEN]

const CLOSING: readonly number[] = [PendingOrderType.MARKET_CLOSE, PendingOrderType.MARKET_PARTIAL_CLOSE]

/**
 * Checks for one `updateOpenOrder` that keeps everything not named. For another size or price the order is cancelled
 * and placed again, unless the collateral that it holds buys the size at the new price as well.
 */
export function expectOrderUpdate(
  calls: CallReader,
  order: Order,
  body: UpdateOrderRequest,
  context: VerifyContext,
): void {
  const terms = {
    ...order,
    size: body.size ?? order.size,
    price: body.price ?? order.price ?? undefined,
    sl: body.sl ?? order.sl,
    tp: body.tp ?? order.tp,
    slippage: body.slippage ?? order.slippage,
  }
  if (calls.isNext('cancelOpenOrder') && (body.size !== undefined || body.price !== undefined)) {
    const [index] = calls.next('cancelOpenOrder')
    expectOrderIndex(index, order, context)
    expectOpening(calls, terms, context)
    return
  }
  const [index, price, tp, sl, slippage] = calls.next('updateOpenOrder')
  const trade = expectOrderIndex(index, order, context)
  // A new size needs new collateral; a new price only where the one held buys something else.
  expectSame('size', scaled('size', order.size, BaseSize), scaled('size', terms.size, BaseSize))
  const isRepriced = triggerUnits('price', terms.price) !== triggerUnits('price', order.price)
  if (isRepriced) expectHeldAmount(terms, order.price ?? '', context, trade?.collateralAmount)
  expectSame('price', triggerUnits('price', terms.price), price)
  expectSame('tp', triggerUnits('tp', terms.tp), tp)
  expectSame('sl', triggerUnits('sl', terms.sl), sl)
  expectSame('slippage', slippageUnits(terms.slippage), slippage)
}

/**
 * Checks a change of stop loss and take profit, of leverage, or of collateral, which the chain expresses as a leverage
 * that keeps the size. Stops may come with the default closing slippage, in place of a tighter one under which they
 * would not execute. A change of leverage or collateral may have to reclaim an earlier one first.
 */
export function expectPositionUpdate(
  calls: CallReader,
  position: Position,
  body: UpdatePositionRequest,
  context: VerifyContext,
): void {
  const indices: number[] = []
  const isRestored = isStopSet(body) && calls.isNext('updateMaxClosingSlippageP')
  if (isRestored) {
    const [index, maxSlippageP] = calls.next('updateMaxClosingSlippageP')
    expectSame('slippage', DEFAULT_SLIPPAGE_P, maxSlippageP)
    indices.push(index)
  }
  if (body.sl !== undefined) {
    const [index, sl] = calls.next('updateSl')
    expectSame('sl', triggerUnits('sl', body.sl), sl)
    indices.push(index)
  }
  if (body.tp !== undefined) {
    const [index, tp] = calls.next('updateTp')
    expectSame('tp', triggerUnits('tp', body.tp), tp)
    indices.push(index)
  }
  if (body.leverage !== undefined || body.collateral !== undefined) {
    const reclaimed = expectReclaim(calls, position, context)
    const [index, leverage] = calls.next('updateLeverage')
    expectSame('leverage', newLeverage(position, body, context), leverage)
    indices.push(index, ...(reclaimed === undefined ? [] : [reclaimed]))
  }
  for (const index of indices) {
    expectSame('trade index', indices[0]!, index)
    const inForce = expectPositionIndex(index, position, context)?.maxSlippageP ?? 0
    if (isRestored && BigInt(inForce) > DEFAULT_SLIPPAGE_P) {
      throw new UnverifiedTransactionError('slippage', `${inForce}, left as it is`, `${DEFAULT_SLIPPAGE_P}`)
    }
  }
}

const DEFAULT_SLIPPAGE_P = slippageUnits(DEFAULT_SLIPPAGE)

/** Returns true when a change sets a stop loss or take profit, rather than only removing them. */
function isStopSet({ sl = '0', tp = '0' }: UpdatePositionRequest): boolean {
  return triggerUnits('sl', sl) !== 0n || triggerUnits('tp', tp) !== 0n
}

/**
 * Returns the new leverage, 1e3. Collateral changes by the leverage that keeps the size, C x L / C', to the step of
 * 0.001 with which never more than the amount leaves the wallet or the position.
 */
function newLeverage(position: Position, body: UpdatePositionRequest, { collateral }: VerifyContext): bigint {
  if (body.leverage !== undefined) return scaled('leverage', body.leverage, Leverage)
  const held = collateralUnits('collateral', position.collateral, collateral.decimals)
  const amount = collateralUnits('collateral.amount', body.collateral?.amount ?? '0', collateral.decimals)
  const size = held * scaled('leverage', position.leverage, Leverage)
  // The Diamond's C' is size / leverage, truncated: the lowest leverage for which that is at most held + amount.
  if (body.collateral?.action === 'add') return size / (held + amount + 1n) + 1n
  return amount < held ? size / (held - amount) : 0n
}

/**
 * Checks a cancellation. A limit or stop order is taken back; a timed-out market request is reclaimed, each of its legs
 * once and in their order. No answer tells how many legs a reduce-only order has, so a transaction that reclaims only
 * some of them passes: the order stays timed out, and another cancel reclaims the rest. `later` is the number of orders
 * that are reclaimed right after it in the same transaction.
 */
export function expectCancel(calls: CallReader, order: Order, context: VerifyContext, later = 0): void {
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
  } while (order.reduceOnly && isAnotherLeg(calls, order, context, later))
}

/** Returns true when the next call reclaims another request of the order, and is not needed for the later ones. */
function isAnotherLeg(calls: CallReader, order: Order, context: VerifyContext, later: number): boolean {
  const ahead = calls.ahead('cancelOrderAfterTimeout')
  const [next] = ahead
  return next !== undefined && ahead.length > later && isPendingOf(findPending(next[0], context), order, context)
}

/** Checks that the waiting request is one of this market, side and kind. */
function expectPending(index: number, order: Order, context: VerifyContext): void {
  const pending = findPending(index, context)
  if (isPendingOf(pending, order, context)) return
  const found = pending === undefined ? `${index}, which waits for nothing` : `${index}, a request of another kind`
  throw new UnverifiedTransactionError('order index', `a request that looks as order ${order.id} does`, found)
}

function findPending(index: number, { onChain }: VerifyContext): PendingFacts | undefined {
  return onChain?.pending.find((candidate) => candidate.index === index)
}

/** Returns true when a waiting request looks as the order does, or the chain can't be read. */
function isPendingOf(pending: PendingFacts | undefined, order: Order, { onChain, market }: VerifyContext): boolean {
  if (onChain === undefined) return true
  if (pending === undefined || pending.pairIndex !== market.pairIndex) return false
  const isOfKind = (order.reduceOnly ? CLOSING : OPENING).includes(pending.orderType)
  return isOfKind && sideOf(pending, onChain) === order.side
}

/** Returns the side that a request trades. A close trades against its position. */
function sideOf({ orderType, tradeIndex, long }: PendingFacts, { trades }: ChainFacts): Side | undefined {
  if (OPENING.includes(orderType)) return long ? 'long' : 'short'
  const closed = trades.find(({ index }) => index === tradeIndex)
  if (closed === undefined) return undefined
  return closed.long ? 'short' : 'long'
}
