import type { FlattenRequest, Order, Position, PreparedBatch, PreparedOrder, Warning } from '@bezel/protocol/wire'
import { BezelError, type BezelErrorCode } from '../errors/bezelError.ts'
import { BroadcastError } from '../errors/broadcastError.ts'
import { RefusalError } from '../errors/serviceErrors.ts'
import {
  PreparationExpiredError,
  TransactionRevertedError,
  UnverifiedTransactionError,
} from '../errors/transactionErrors.ts'
import type { ApiCall } from '../http/createTransport.ts'
import type { Facts } from '../verify/createFacts.ts'
import { verifyBatch, type BatchLeg, type BatchRequest } from '../verify/verifyPrepared.ts'
import { executeWrite, gatherContext, type WriteSetup } from './executeWrite.ts'
import { goalOf, type OrderGoal, type TrackedOrder } from './trackOrder.ts'

/** An order or a position that a batch leaves as it is, so that the others are not held up by it. */
export interface LeftOpen {
  /** Id of the order or position. */
  readonly id: string
  /** Code of the service's refusal, or of an error of this package such as `UNVERIFIED_TRANSACTION`. */
  readonly code: BezelErrorCode
  /** The reason in words, for people. */
  readonly message: string
}

type WriteCall = Pick<ApiCall, 'operationId' | 'method' | 'path' | 'body'>

/** Everything that batches need of a client. */
export interface BatchParts {
  readonly setup: WriteSetup
  readonly write: (call: WriteCall) => Promise<PreparedBatch>
  /** Prepares the end of one order or position. */
  readonly writeOne: (call: WriteCall) => Promise<PreparedOrder>
  readonly submit: (id: string, txHash: `0x${string}`) => Promise<unknown>
  readonly tracked: (order: Order, txHash: `0x${string}` | null, goal: OrderGoal) => TrackedOrder
  /** Pause before the second attempt at a page, and twice as long before each further one. Default 500 ms. */
  readonly pauseMs?: number
}

/** A batch as it was asked for. `isOrder` and `isPosition` say what it may end. */
export interface AskedBatch {
  readonly market?: string
  readonly slippage?: string
  readonly isOrder: boolean
  readonly isPosition: boolean
  readonly prepare: (request: FlattenRequest) => Promise<PreparedBatch>
}

/** A batch that is under way. */
export interface BatchProgress {
  readonly orders: TrackedOrder[]
  readonly leftOut: LeftOpen[]
  readonly txHashes: `0x${string}`[]
  readonly warnings: Warning[]
  /** Ids of positions whose close was sent, without those that may be others that look alike. */
  readonly closed: Set<string>
  /** Ids of closes that were prepared for attempts that failed. The service withdraws them by itself. */
  readonly dropped: Set<string>
  /** Orders of the pages that were given up. */
  readonly stuck: TrackedOrder[]
}

/** Attempts at one page. Each fails because something of the page changed before it was mined. */
const MAX_TRIES = 4

const FIRST_PAUSE_MS = 500

/**
 * Prepares, verifies, sends and reports page after page, each mined before the next one. A page that does not fit the
 * chain any more is read and prepared again. One that never fits is given up, and what it would have ended is ended one
 * by one in the end, so that nothing holds up the others. Throws the failure of such a page when nothing was sent.
 */
export async function sendPages(parts: BatchParts, asked: AskedBatch, progress: BatchProgress): Promise<void> {
  let failure: unknown
  let next: string | null | undefined
  while (next !== null) {
    const page = await sendPage(parts, asked, next, progress)
    failure = page.failure ?? failure
    next = page.next
  }
  if (failure === undefined) return
  await endEach(parts, asked, progress)
  if (progress.txHashes.length === 0) throw failure
}

/** Sends one page, or gives it up. Returns where the next one begins, and the failure that it was given up for. */
async function sendPage(
  parts: BatchParts,
  asked: AskedBatch,
  next: string | undefined,
  progress: BatchProgress,
): Promise<Pick<PreparedBatch, 'next'> & { readonly failure?: unknown }> {
  const { setup, pauseMs = FIRST_PAUSE_MS } = parts
  const { market, slippage } = asked
  const request = {
    ...(market === undefined ? {} : { market }),
    ...(slippage === undefined ? {} : { slippage }),
    ...(next === undefined ? {} : { next }),
  }
  for (let attempt = 1; ; attempt += 1) {
    const [page, held] = await Promise.all([asked.prepare(request), asked.isPosition ? setup.positions() : []])
    try {
      await tryPage(parts, asked, { page, held }, progress)
      return { next: page.next }
    } catch (error) {
      if (!isOutdated(error)) throw error
      dropPage(parts, page, progress)
      if (attempt === MAX_TRIES) {
        progress.stuck.push(...page.orders.filter(isLive).map((order) => untouched(parts, order)))
        progress.leftOut.push(...page.leftOut)
        return { next: page.next, failure: error }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** (attempt - 1)))
  }
}

/**
 * Returns true for an error of something that changed after it was prepared. Nothing of it was done: it was not signed,
 * or it reverted, or would have.
 */
function isOutdated(error: unknown): boolean {
  if (error instanceof BroadcastError) return error.reason === 'reverted'
  return [UnverifiedTransactionError, TransactionRevertedError, PreparationExpiredError].some(
    (kind) => error instanceof kind,
  )
}

/** Keeps of a page that failed only the orders that needed no transaction. */
function dropPage(parts: BatchParts, { orders }: PreparedBatch, { orders: kept, dropped }: BatchProgress): void {
  const withdrawn = orders.filter((order) => !isLive(order) && !dropped.has(order.id))
  kept.push(...withdrawn.map((order) => untouched(parts, order)))
  for (const { id, status } of orders) if (status === 'prepared') dropped.add(id)
}

function isLive({ status }: Order): boolean {
  return status !== 'expired'
}

/** Returns an order of a page for which nothing was sent. */
function untouched({ tracked }: BatchParts, order: Order): TrackedOrder {
  return tracked(order, null, goalOf({ operation: 'cancelOrder', order }, { order }))
}

/** Verifies, sends and reports a page, and waits until it is mined. Throws when it does not fit the chain any more. */
async function tryPage(
  parts: BatchParts,
  asked: AskedBatch,
  { page, held }: { readonly page: PreparedBatch; readonly held: readonly Position[] },
  progress: BatchProgress,
): Promise<void> {
  const { setup, tracked } = parts
  // What an earlier page closes is listed until it is answered.
  const left = held.filter(({ id }) => !progress.closed.has(id))
  const legs = legsOf(page.orders, left, asked)
  const { txHash, closed } = await sendLegs(parts, legs, page.transaction)
  const requests = new Map(legs.map(({ order, requests: [request] }) => [order.id, request]))
  const own = page.orders.filter((order) => isLive(order) || !progress.dropped.has(order.id))
  const made = own.map((order) => {
    const request = requests.get(order.id)
    // Without a request it was prepared only, and has expired.
    return request === undefined ? untouched(parts, order) : tracked(order, txHash, goalOf(request, { order }))
  })
  progress.orders.push(...made)
  if (txHash !== null) {
    progress.txHashes.push(txHash)
    if (await setup.broadcaster.isReverted(txHash)) {
      progress.orders.splice(-made.length, made.length)
      throw new TransactionRevertedError(txHash)
    }
  }
  progress.leftOut.push(...page.leftOut)
  progress.warnings.push(...(page.warnings ?? []))
  for (const id of closed) progress.closed.add(id)
  if (page.next !== null) await untilReclaimed(made)
}

/**
 * Verifies and sends the transaction of all legs together. `closed` are the ids of the positions that it closes for
 * sure, `txHash` is null when there is nothing to send.
 */
async function sendLegs(
  { setup, submit }: BatchParts,
  legs: readonly Omit<BatchLeg, 'context'>[],
  transaction: PreparedBatch['transaction'],
): Promise<{ readonly txHash: `0x${string}` | null; readonly closed: readonly string[] }> {
  if (transaction === null) {
    if (legs.length === 0) return { txHash: null, closed: [] }
    throw new UnverifiedTransactionError('transaction', `one for ${legs.length} orders`, 'none')
  }
  const around = { ...setup, facts: remembered(setup.facts) }
  const gathered = legs.map(async (leg): Promise<BatchLeg> => ({
    ...leg,
    // Positions that look alike are of one market and one collateral, so they share all facts.
    context: await gatherContext(around, leg.requests[0]!),
  }))
  const closed = verifyBatch(await Promise.all(gathered), transaction)
  const txHash = await setup.broadcaster.broadcast(transaction)
  // The service finds the transaction by itself; a report only makes it faster.
  await submit(legs[0]!.order.id, txHash).catch(() => undefined)
  return { txHash, closed }
}

/** Longest wait for the reclaims of a page, in ms. */
const RECLAIM_MS = 15_000

const RECLAIM_POLL_MS = 250

/** Waits until the timed-out closes of a page are reclaimed: they stand in the way of closes of the next one. */
async function untilReclaimed(orders: readonly TrackedOrder[]): Promise<void> {
  // All of them are in one transaction.
  const late = orders.find(({ order, txHash }) => order.reduceOnly && order.status === 'timed_out' && txHash !== null)
  const options = { timeoutMs: RECLAIM_MS, pollMs: RECLAIM_POLL_MS }
  await late?.waitFor(({ status }) => status !== 'timed_out', options).catch(() => undefined)
}

/**
 * Returns what the transaction must do for each of the orders. An expired one needs nothing. A close names no position,
 * so it is that of one of those that look like it.
 */
function legsOf(
  orders: readonly Order[],
  held: readonly Position[],
  { market, slippage, isOrder, isPosition }: AskedBatch,
): Omit<BatchLeg, 'context'>[] {
  const closes = held.map((position) => closeOf(position, slippage))
  return orders.flatMap((order): Omit<BatchLeg, 'context'>[] => {
    if (market !== undefined && order.market !== market) {
      throw new UnverifiedTransactionError('market', market, order.market)
    }
    if (!isLive(order)) return []
    if (order.status !== 'prepared') {
      if (!isOrder) throw new UnverifiedTransactionError('order', 'a close', `order ${order.id}, ${order.status}`)
      return [{ order, requests: [{ operation: 'cancelOrder', order }] }]
    }
    const requests = closes.filter(({ position }) => isCloseOf(order, position))
    if (requests.length === 0 || !isPosition) {
      throw new UnverifiedTransactionError('order', 'the close of an open position', `order ${order.id}`)
    }
    return [{ order, requests }]
  })
}

function closeOf(
  position: Position,
  slippage: string | undefined,
): Extract<BatchRequest, { operation: 'closePosition' }> {
  return { operation: 'closePosition', position, body: slippage === undefined ? {} : { slippage } }
}

function isCloseOf(order: Order, position: Position): boolean {
  return (
    order.reduceOnly &&
    order.type === 'market' &&
    order.market === position.market &&
    order.side !== position.side &&
    order.size === position.size &&
    order.leverage === position.leverage &&
    order.collateral === position.collateralSymbol
  )
}

/** Returns the same facts, each read once for all legs of a transaction. */
function remembered(facts: Facts): Facts {
  const known = new Map<string, Promise<unknown>>()
  const once = <Result>(key: string, read: () => Promise<Result>): Promise<Result> => {
    const found = (known.get(key) as Promise<Result> | undefined) ?? read()
    known.set(key, found)
    return found
  }
  return {
    ...facts,
    market: (symbol, pairs) => once(`market ${symbol}`, () => facts.market(symbol, pairs)),
    collateral: (market, symbol, priceUsd) =>
      once(`collateral ${market} ${symbol}`, () => facts.collateral(market, symbol, priceUsd)),
    onChain: (trader) => once('trades', () => facts.onChain(trader)),
    chainPrice: (pairIndex) => once(`price ${pairIndex}`, () => facts.chainPrice(pairIndex)),
  }
}

/**
 * Ends what is left of the pages that were given up, each order and position in a transaction of its own. Orders come
 * first, because the reclaim of an earlier close may free a position. What fails is left out and named.
 */
async function endEach(parts: BatchParts, asked: AskedBatch, progress: BatchProgress): Promise<void> {
  const { market, slippage, isOrder, isPosition } = asked
  const named = new Set(progress.leftOut.map(({ id }) => id))
  const isAsked = (of: Order | Position): boolean => (market === undefined || of.market === market) && !named.has(of.id)
  const cancels = progress.stuck.filter(({ order, status }) => isOrder && status !== 'prepared' && isAsked(order))
  const reread = (tracked: TrackedOrder) => async (): Promise<BatchRequest | undefined> => {
    const order = await tracked.refresh()
    return GONE.includes(order.status) ? undefined : { operation: 'cancelOrder', order }
  }
  await each(parts, new Map(cancels.map((tracked) => [tracked.id, reread(tracked)])), progress)
  const held = isPosition ? await parts.setup.positions() : []
  const left = held.filter((position) => isAsked(position) && !progress.closed.has(position.id))
  await each(parts, new Map(left.map((position) => [position.id, async () => closeOf(position, slippage)])), progress)
}

/** Statuses of an order that holds nothing and waits for nothing any more. */
const GONE: readonly string[] = ['filled', 'rejected', 'canceled', 'expired']

/** Sends the end of each, by id, then waits until they are mined. A request that is `undefined` has nothing to end. */
async function each(
  parts: BatchParts,
  requests: ReadonlyMap<string, () => Promise<BatchRequest | undefined>>,
  progress: BatchProgress,
): Promise<void> {
  const sent: { readonly id: string; readonly order: TrackedOrder; readonly txHash: `0x${string}` }[] = []
  for (const [id, requestOf] of requests) {
    try {
      const request = await requestOf()
      const order = request && (await endAlone(parts, request, progress))
      if (order === undefined || order.txHash === null) continue
      sent.push({ id, order, txHash: order.txHash })
      progress.orders.push(order)
      progress.txHashes.push(order.txHash)
    } catch (error) {
      leaveOut(progress, id, error)
    }
  }
  for (const { id, order, txHash } of sent) {
    if (!(await parts.setup.broadcaster.isReverted(txHash))) continue
    progress.orders.splice(progress.orders.indexOf(order), 1)
    leaveOut(progress, id, new TransactionRevertedError(txHash))
  }
}

async function endAlone(
  { setup, writeOne, submit, tracked }: BatchParts,
  request: BatchRequest,
  { warnings }: BatchProgress,
): Promise<TrackedOrder> {
  const call: WriteCall =
    request.operation === 'cancelOrder'
      ? { operationId: 'cancelOrder', method: 'DELETE', path: `/orders/${request.order.id}` }
      : {
          operationId: 'closePosition',
          method: 'POST',
          path: `/positions/${request.position.id}/close`,
          body: request.body,
        }
  const { prepared, txHash } = await executeWrite(setup, {
    request,
    prepare: () => writeOne(call),
    options: undefined,
  })
  if (txHash !== null) await submit(prepared.order.id, txHash).catch(() => undefined)
  warnings.push(...(prepared.warnings ?? []))
  return tracked(prepared.order, txHash, goalOf(request, prepared))
}

/** Names what could not be ended. Throws an error that is not about it, such as a node that is away. */
function leaveOut({ leftOut }: BatchProgress, id: string, error: unknown): void {
  if (!(error instanceof BezelError) || !(isOutdated(error) || error instanceof RefusalError)) throw error
  const { code, message } = error
  // What is not found has ended by itself.
  if (code !== 'ORDER_NOT_FOUND' && code !== 'POSITION_NOT_FOUND') leftOut.push({ id, code, message })
}
