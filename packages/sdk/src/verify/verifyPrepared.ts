import { BaseSize, type Order, type Position, type PreparedTransaction } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { createCallReader, type CallReader, decodeCalls, isSameAddress } from './decodeCalls.ts'
import { expectCrediblePrice, expectSame } from './expect.ts'
import { expectCancel, expectOrderUpdate, expectPositionUpdate } from './expectUpdate.ts'
import { expectClosing, expectReduction } from './expectClosing.ts'
import { expectUpdateCancel } from './expectReclaim.ts'
import { expectOpening } from './expectOpening.ts'
import { scaled } from './scales.ts'
import type { VerifyContext, WriteRequest } from './verifyContext.ts'

/** The answer of the service to a write. */
export interface PreparedWrite {
  /** Order of the answer; absent for a change of a position. */
  readonly order?: Order
  /** Position of the answer; absent for an order. */
  readonly position?: Position
  /** Transaction of the answer; null when nothing has to be sent. */
  readonly transaction: PreparedTransaction | null
}

/**
 * Proves that a prepared transaction does what was asked and nothing else, or throws `UnverifiedTransactionError`.
 *
 * The check covers the Diamond, the chain and a value of 0; the trader that a delegate acts for; exactly the calls of
 * this request in their order; market, side, type, collateral, leverage, price, slippage, stop loss, take profit,
 * referrer and every other field of the struct; and that the bytes are the plain encoding of all this, followed by 8
 * bytes.
 *
 * The size is proven as a bound. The collateral of an order is what its size costs at the Diamond's price after spread
 * and volume impact, which no request names. So collateral x leverage x the token's USD price must be within
 * size x base x (1 +- slippage), where base is `expectedPrice` for a market order (never its `price`) and the trigger
 * for a resting one, or `expectedPrice` where the market has passed the trigger already. Outside of that the Diamond
 * refuses the order anyway. With `impactP`, which a sender that reads the chain provides, the bound is 0.1 % around the
 * Diamond's own price; a market order that names no `price` is then counted at the price in its transaction, which is
 * itself within the slippage of `expectedPrice`.
 *
 * With `chainPrice` the market's price must be as near to the price on the chain as the Diamond itself asks of its
 * oracle, so that a service can't make a trader accept any price by lying about the market.
 *
 * `VerifyContext` says where each fact comes from, and what can't be proven without reading the chain. A `null`
 * transaction has nothing to prove.
 */
export function verifyPrepared(request: WriteRequest, prepared: PreparedWrite, context: VerifyContext): void {
  try {
    expectAll(request, prepared, context)
  } catch (error) {
    if (error instanceof UnverifiedTransactionError) throw error
    // Anything that can't be computed with is no proof: a number that no market has, or a field of another type.
    throw new UnverifiedTransactionError('answer', 'what can be computed with', String(error))
  }
}

function expectAll(request: WriteRequest, prepared: PreparedWrite, context: VerifyContext): void {
  const { transaction } = prepared
  expectAnswer(request, prepared, context)
  if (transaction === null) return
  const calls = expectTransaction(transaction, context)
  expectCrediblePrice(context)
  expectCalls(calls, request, context)
  calls.end()
}

/** A write that can be one of many in a transaction. */
export type BatchRequest = Extract<WriteRequest, { operation: 'cancelOrder' | 'closePosition' }>

/** One of the orders that a transaction cancels, reclaims or makes, with the facts that it is checked against. */
export interface BatchLeg {
  /**
   * The write that this leg is to do. A close names no position, so there is one for each that looks like it, the same
   * object in all legs.
   */
  readonly requests: readonly BatchRequest[]
  /** Order of the answer that this leg belongs to. */
  readonly order: Order
  /** Facts that it is checked against. */
  readonly context: VerifyContext
}

/**
 * Proves that a transaction does exactly these legs in their order, each as `verifyPrepared` proves it alone, or throws
 * `UnverifiedTransactionError`. Returns the ids of the positions that it closes for sure. Where one that is left would
 * have fitted as well, nobody knows which of them it is, and it returns none of them.
 */
export function verifyBatch(legs: readonly BatchLeg[], transaction: PreparedTransaction): readonly string[] {
  try {
    return expectLegs(legs, transaction)
  } catch (error) {
    if (error instanceof UnverifiedTransactionError) throw error
    throw new UnverifiedTransactionError('answer', 'what can be computed with', String(error))
  }
}

function expectLegs(legs: readonly BatchLeg[], transaction: PreparedTransaction): readonly string[] {
  const [first] = legs
  if (first === undefined) throw new UnverifiedTransactionError('transaction', 'none, since nothing is ended', 'one')
  let calls = expectTransaction(transaction, first.context)
  const done = new Map<BatchRequest, BatchLeg>()
  const fitting = new Set<BatchRequest>()
  for (const [at, leg] of legs.entries()) {
    expectCrediblePrice(leg.context)
    const fits = readingsOf(calls, leg, transaction, reclaimsAfter(legs, at))
    const found = fits.find(({ request }) => !done.has(request))
    if (found === undefined) throw new UnverifiedTransactionError('order', 'the end of something else', leg.order.id)
    calls = found.calls
    done.set(found.request, leg)
    for (const { request } of fits) fitting.add(request)
  }
  calls.end()
  const isLeft = (request: BatchRequest): boolean => fitting.has(request) && !done.has(request)
  return [...done].flatMap(([request, { requests }]) =>
    request.operation === 'closePosition' && !requests.some(isLeft) ? [request.position.id] : [],
  )
}

/** Returns the writes of a leg that the next calls can be, each with the calls behind it. Throws when there is none. */
function readingsOf(
  calls: CallReader,
  { requests, order, context }: BatchLeg,
  transaction: PreparedTransaction,
  later: number,
): readonly { readonly request: BatchRequest; readonly calls: CallReader }[] {
  let refusal = new UnverifiedTransactionError('order', 'one that was asked to end', order.id)
  const readings = requests.flatMap((request) => {
    const attempt = calls.fork()
    try {
      expectAnswer(request, { order, transaction }, context)
      if (request.operation === 'cancelOrder') expectCancel(attempt, order, context, later)
      else expectCalls(attempt, request, context)
      return [{ request, calls: attempt }]
    } catch (error) {
      if (!(error instanceof UnverifiedTransactionError)) throw error
      refusal = error
      return []
    }
  })
  if (readings.length === 0) throw refusal
  return readings
}

/** Counts the legs right after one of them whose calls begin with a reclaim. */
function reclaimsAfter(legs: readonly BatchLeg[], at: number): number {
  const rest = legs.slice(at + 1).map(({ requests }) => requests)
  const isReclaim = (request: BatchRequest): boolean =>
    request.operation === 'cancelOrder'
      ? request.order.type === 'market'
      : request.position.pendingUpdate?.status === 'timed_out'
  const others = rest.findIndex(([request]) => request?.operation !== 'cancelOrder' || !isReclaim(request))
  const count = others === -1 ? rest.length : others
  const next = rest[count] ?? []
  return count + (next.some(isReclaim) ? 1 : 0)
}

/** Checks the frame of a transaction and returns its calls. */
function expectTransaction(transaction: PreparedTransaction, context: VerifyContext): CallReader {
  if (!isSameAddress(transaction.to, context.diamond)) {
    throw new UnverifiedTransactionError('to', context.diamond, transaction.to)
  }
  expectSame('value', '0', String(transaction.value))
  expectSame('chainId', context.chainId, transaction.chainId)
  return createCallReader(decodeCalls(transaction.data, context))
}

function expectCalls(calls: CallReader, request: WriteRequest, context: VerifyContext): void {
  switch (request.operation) {
    case 'createOrder': {
      const { body } = request
      if (body.reduceOnly === true) return expectReduction(calls, body, context)
      const { side, type, size, leverage, price, sl, tp, slippage } = body
      return expectOpening(calls, { side, type, size, leverage, price, sl, tp, slippage }, context)
    }
    case 'updateOrder':
      return expectOrderUpdate(calls, request.order, request.body, context)
    case 'cancelOrder':
      return expectCancel(calls, request.order, context)
    case 'closePosition': {
      const { position, body } = request
      const size = scaled('size', body.size ?? position.size, BaseSize)
      const terms = { position, size, sizeText: body.size, price: undefined, slippage: body.slippage }
      return void expectClosing(calls, terms, context)
    }
    case 'updatePosition':
      return expectPositionUpdate(calls, request.position, request.body, context)
    case 'cancelPositionUpdate':
      return expectUpdateCancel(calls, request.position, context)
  }
}

/** Checks that the answer is about what was asked, so that the right order is tracked afterwards. */
function expectAnswer(
  request: WriteRequest,
  { order, position }: PreparedWrite,
  { trader, market }: VerifyContext,
): void {
  const found = order ?? position
  if (found === undefined) throw new UnverifiedTransactionError('answer', 'an order or a position', 'neither')
  if (!isSameAddress(found.trader, trader)) throw new UnverifiedTransactionError('trader', trader, found.trader)
  expectSame('market', market.symbol, found.market)
  if (request.operation === 'updateOrder' || request.operation === 'cancelOrder') {
    expectSame('order.id', request.order.id, found.id)
  }
  const isOfPosition = request.operation === 'updatePosition' || request.operation === 'cancelPositionUpdate'
  if (isOfPosition) expectSame('position.id', request.position.id, found.id)
  if (request.operation === 'createOrder') expectSame('order.side', request.body.side, found.side)
}
