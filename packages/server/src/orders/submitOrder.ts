import { NodeUnavailableError } from '../ground/unavailable.ts'
import {
  ApiError,
  parseHex,
  type Address,
  type Hex,
  type Order,
  type OrderId,
  type SubmitOrderRequest,
} from '@bezel/protocol'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import { notReady } from '../ground/notReady.ts'
import { listAttemptsByHash, setSubmitted } from '../store/attemptStore.ts'
import type { Sql } from '../store/sql.ts'
import type { Attempt, OrderState } from '../trading/orders/orderModel.ts'
import { isTimeoutKnown } from '../trading/orders/unknownTimeout.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import type { ChainOrders } from './chainOrders.ts'
import { hasCreated } from './createdOrder.ts'
import { beforeNode } from './delegation.ts'
import { ownOrder, type OrderAtClock } from './orderAtClock.ts'
import { startRefolds, type Refolds } from '../journal/refolds.ts'
import { lookAtReport, type ReportedTransaction } from './reportedTransaction.ts'
import { claimWrite, isOwnSender, senderOf, type SignedWrite } from './signedWrite.ts'

/**
 * Takes the hash that an agent reports for what was prepared. The report only speeds things up and helps with a transaction that was rebuilt
 * on its way: what became of it the follower reads from the chain. So a hash that nobody knows yet is taken, and one for an order whose
 * transaction is on the chain already changes nothing: the answer is the order as it is.
 */
export async function submitOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: SubmitOrderRequest,
): Promise<Order> {
  const hash = parseHex(body.txHash)!
  const { record } = await beforeNode(orders, write, () => {
    const clock = orders.clock()
    if (!isTimeoutKnown(clock)) throw notReady('starting')
    return ownOrder(orders.store.read, write, id, clock)
  })
  const transaction = await lookUp(orders, write, hash)
  const state = await orders.accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const clock = orders.clock()
    await claimWrite(sql, orders, write, clock.nowMs)
    const refolds = startRefolds(sql, clock, journal)
    const order = await ownOrder(sql, write, record.id, clock)
    return report(sql, { orders, order, hash, transaction, nowMs: clock.nowMs }, refolds)
  })
  return orderAnswer(record, state)
}

interface Report {
  readonly orders: ChainOrders
  readonly order: OrderAtClock
  readonly hash: Hex
  /** `undefined`: nobody can say anything about it now. */
  readonly transaction: ReportedTransaction | undefined
  readonly nowMs: number
}

/** A node that is away is no reason to lose a report. */
async function lookUp(orders: ChainOrders, write: SignedWrite, hash: Hex): Promise<ReportedTransaction | undefined> {
  const { chain, client, delegates } = orders
  const { trader } = write.agent
  const sender = senderOf(write)
  const askedAtMs = orders.now()
  try {
    const { delegate, transaction } = await lookAtReport(client, { diamond: chain.diamond, trader, hash })
    delegates.learn(trader, delegate, askedAtMs)
    if (delegate !== sender && sender !== trader) throw agentNotDelegated(chain, sender)
    return transaction
  } catch (error) {
    if (!(error instanceof NodeUnavailableError)) throw error
    refuseKnownUndelegated(orders, write)
    return undefined
  }
}

/** From memory only: the node was just asked in vain. */
function refuseKnownUndelegated({ chain, delegates }: ChainOrders, write: SignedWrite): void {
  const delegate = delegates.known(write.agent.trader)
  const isRefused = delegate !== undefined && delegate !== senderOf(write) && !isOwnSender(write)
  if (isRefused) throw agentNotDelegated(chain, senderOf(write))
}

/** Records the hash where it belongs. The order's state then. Throws `SUBMISSION_MISMATCH` with the order left as it was. */
async function report(sql: Sql, of: Report, refolds: Refolds): Promise<OrderState> {
  const { orders, order, hash, transaction, nowMs } = of
  const { diamond, slug } = orders.chain
  const { id, trader } = order.record
  const exact = order.attempts.find((attempt) => isTransactionOf(attempt, transaction, diamond))
  const attempt = exact ?? order.attempts.findLast((candidate) => !isMined(candidate, order))
  if (attempt === undefined || isMined(attempt, order) || isReportedAs(attempt, hash)) return refolds.of(id)
  if (exact === undefined) {
    const reported = await listAttemptsByHash(sql, slug, hash, trader)
    if (reported.some(({ orderId }) => orderId !== id)) throw mismatch('This hash was reported for another order.')
    requireSameOrder(of, attempt)
  }
  await setSubmitted(sql, attempt.id, hash, nowMs)
  return refolds.of(id)
}

/** A transaction with other calldata is taken for this order when it made the same one, or as long as it is not mined and may still. */
function requireSameOrder({ order, transaction }: Report, { kind }: Attempt): void {
  if (transaction?.receipt === undefined) return
  const { isReverted, logs } = transaction.receipt
  const creates = kind === 'open' || kind === 'replace'
  if (creates && !isReverted && hasCreated(logs, order.record)) return
  throw mismatch('This transaction was mined without creating this order for this trader.')
}

/** Calldata says it all but who sent it, and without a delegate between it acts for whoever that is. */
function isTransactionOf(
  { calldata, sender }: Attempt,
  transaction: ReportedTransaction | undefined,
  diamond: Address,
): boolean {
  return transaction?.input === calldata && transaction.from === sender && transaction.to === diamond
}

function isMined({ id }: Attempt, { events }: OrderAtClock): boolean {
  return events.some(({ attemptId }) => attemptId === id)
}

function isReportedAs({ submittedHash, isMismatch }: Attempt, hash: Hex): boolean {
  return submittedHash === hash && !isMismatch
}

function mismatch(message: string): ApiError {
  return new ApiError('SUBMISSION_MISMATCH', `${message} The order is as it was.`)
}
