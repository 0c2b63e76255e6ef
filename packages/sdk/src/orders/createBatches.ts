import type { FlattenRequest, Order, PreparedBatch, Warning } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import { OrderNotChangedError, OrderNotFilledError } from '../errors/orderErrors.ts'
import { queryOf } from '../http/createTransport.ts'
import { sendPages, type AskedBatch, type BatchParts, type BatchProgress, type LeftOpen } from './sendPages.ts'
import type { TrackedOrder, WaitOptions } from './trackOrder.ts'

/** The orders that are cancelled: all of them, or those of one market. */
export interface CancelAllOptions {
  /** Only the orders of this market, for instance `BTC/USD`. Default: all markets. */
  readonly market?: string
}

/** The positions that are closed: all of them, or those of one market. */
export interface CloseAllOptions extends CancelAllOptions {
  /** Greatest difference between the mark and the execution price of each close, in percent. Default `1`. */
  readonly slippage?: string
}

/** Many orders that were cancelled, reclaimed or made, in as many transactions as it took. */
export interface SentBatch {
  /** Orders that are cancelled or reclaimed, closes that were made, and prepared orders that have expired. */
  readonly orders: readonly TrackedOrder[]
  /** Orders and positions that stay as they are, each with its reason. */
  readonly leftOut: readonly LeftOpen[]
  /** Hashes of the transactions that were sent, those that reverted too. */
  readonly txHashes: readonly `0x${string}`[]
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /**
   * Waits until every order has ended as it was asked to, and returns them: a cancelled one is `canceled`, `expired` or
   * `rejected`, a close is `filled`, and so may be a timed-out one that was to be reclaimed. Once all have ended, it
   * throws `BatchNotDoneError`, which names the others: a close that was refused or not answered in time, and an order
   * that was executed before it was cancelled. The timeout is that of each order. Throws `FillTimeoutError` after it.
   */
  wait(options?: WaitOptions): Promise<Order[]>
}

/**
 * Ends many orders and positions. Each method goes on page by page until nothing is left, each page mined before the
 * next one. A page that does not fit the chain any more, because something in it ended or changed by itself, is
 * prepared again. What never fits is ended one by one, so that it does not hold up the others, or left out and named;
 * when nothing at all could be sent, its error is thrown. Only a sender that reads receipts (`isReverted`) can tell
 * that a page has reverted.
 */
export interface Batches {
  /** Prepares one page of the cancellation of all orders and sends nothing. */
  prepareCancelAll(request?: Pick<FlattenRequest, 'market' | 'next'>): Promise<PreparedBatch>
  /** Cancels, reclaims or withdraws all orders. */
  cancelAll(options?: CancelAllOptions): Promise<SentBatch>
  /** Prepares one page of the close of all positions and sends nothing. */
  prepareCloseAll(request?: FlattenRequest): Promise<PreparedBatch>
  /** Closes all positions at the market. */
  closeAll(options?: CloseAllOptions): Promise<SentBatch>
  /** Prepares one page of the end of all orders and positions and sends nothing. */
  prepareFlatten(request?: FlattenRequest): Promise<PreparedBatch>
  /** Ends all orders, then closes all positions. */
  flatten(options?: CloseAllOptions): Promise<SentBatch>
}

/** Creates the batches of a client. */
export function createBatches(parts: BatchParts): Batches {
  const { write } = parts
  const batches: Batches = {
    prepareCancelAll: (request = {}) =>
      write({ operationId: 'cancelAllOrders', method: 'DELETE', path: `/orders${queryOf(request)}` }),
    prepareCloseAll: (body = {}) =>
      write({ operationId: 'closeAllPositions', method: 'POST', path: '/positions/close-all', body }),
    prepareFlatten: (body = {}) => write({ operationId: 'flatten', method: 'POST', path: '/flatten', body }),
    cancelAll: (options) =>
      sendAll(parts, { ...options, isOrder: true, isPosition: false, prepare: batches.prepareCancelAll }),
    closeAll: (options) =>
      sendAll(parts, { ...options, isOrder: false, isPosition: true, prepare: batches.prepareCloseAll }),
    flatten: (options) =>
      sendAll(parts, { ...options, isOrder: true, isPosition: true, prepare: batches.prepareFlatten }),
  }
  return batches
}

/** Sends all pages of a batch. */
async function sendAll(parts: BatchParts, asked: AskedBatch): Promise<SentBatch> {
  const { setup } = parts
  setup.broadcaster.requireSender(setup.agentAddress())
  const progress: BatchProgress = {
    orders: [],
    leftOut: [],
    txHashes: [],
    warnings: [],
    closed: new Set(),
    dropped: new Set(),
    stuck: [],
  }
  try {
    await sendPages(parts, asked, progress)
  } catch (error) {
    if (progress.txHashes.length === 0) throw error
    const sent = new Set(progress.orders.map(({ id }) => id))
    const undone = progress.stuck.filter(({ id }) => !sent.has(id))
    throw new BatchInterruptedError(sentBatch(progress), error, undone)
  }
  return sentBatch(progress)
}

function sentBatch({ orders, leftOut, txHashes, warnings }: BatchProgress): SentBatch {
  return {
    orders,
    leftOut,
    txHashes,
    warnings,
    async wait(options) {
      const missed = new Set<Order>()
      const ended = orders.map(async (tracked) => {
        try {
          return await tracked.wait(options)
        } catch (error) {
          if (!(error instanceof OrderNotFilledError || error instanceof OrderNotChangedError)) throw error
          missed.add(error.order)
          return error.order
        }
      })
      const all = await Promise.all(ended)
      if (missed.size > 0)
        throw new BatchNotDoneError(
          all,
          all.filter((order) => missed.has(order)),
        )
      return all
    },
  }
}

/**
 * The error for a batch some of whose orders ended in another way than was asked for. `missed` has them: closes that
 * were refused or not answered in time, whose positions are still open, and orders that were executed before they were
 * cancelled, whose positions are open now. Repeat the batch; `orders.cancelAll` closes no position.
 */
export class BatchNotDoneError extends BezelError {
  override readonly name = 'BatchNotDoneError'
  declare readonly code: 'BATCH_NOT_DONE'
  /** All orders of the batch as they ended. */
  readonly orders: readonly Order[]
  /** Orders among them that did not end as it was asked for. `status` says how; `reason` why a close was refused. */
  readonly missed: readonly Order[]

  constructor(orders: readonly Order[], missed: readonly Order[]) {
    const each = missed.map(({ id, status, reason }) => `${id} is ${status}${reason === null ? '' : ` (${reason})`}`)
    const message = `${missed.length} of ${orders.length} orders did not end as it was asked for: ${each.join(', ')}. Look at the positions and orders that are left, and repeat it for them.`
    super('BATCH_NOT_DONE', message)
    this.orders = orders
    this.missed = missed
  }
}

/**
 * The error for a batch that ended before its last page. `sent` has what was sent, which goes on by itself, `undone`
 * what pages that were given up have not ended; `cause` is the error that ended it. Repeat the batch for the rest.
 */
export class BatchInterruptedError extends BezelError {
  override readonly name = 'BatchInterruptedError'
  declare readonly code: 'BATCH_INTERRUPTED'
  /** Pages that were sent. Of `orders`, those of reverted pages are left away. */
  readonly sent: SentBatch
  /** Orders of pages that were given up, and that were not ended one by one before the interruption. */
  readonly undone: readonly TrackedOrder[]

  constructor(sent: SentBatch, cause: unknown, undone: readonly TrackedOrder[] = []) {
    const count = sent.txHashes.length
    const pages = count === 1 ? '1 transaction was' : `${count} transactions were`
    const why = cause instanceof Error ? cause.message : String(cause)
    const left =
      undone.length === 0
        ? ''
        : ` Ended or under way: ${idsOf(sent.orders)}. Not done: ${idsOf(undone)}, and what follows.`
    const message = `${pages} sent, then it was interrupted: ${why}${left} Repeat it for the rest.`
    super('BATCH_INTERRUPTED', message, { cause })
    this.sent = sent
    this.undone = undone
  }
}

function idsOf(orders: readonly TrackedOrder[]): string {
  if (orders.length === 0) return 'no order'
  return `${orders.length === 1 ? 'order' : 'orders'} ${orders.map(({ id }) => id).join(', ')}`
}
