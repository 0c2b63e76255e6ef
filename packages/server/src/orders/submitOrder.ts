import { NodeUnavailableError, notReady } from '../ground/unavailable.ts'
import {
  ApiError,
  parseHex,
  type Address,
  type Hex,
  type Order,
  type OrderId,
  type SubmitOrderRequest,
  TradeType,
  parseAddress,
} from '@bezel/protocol'
import { agentNotDelegated } from '../agents/agentRefusals.ts'
import {
  attemptIdIn,
  findAttempt,
  listAttemptOrders,
  listAttempts,
  listAttemptsByHash,
  setSubmitted,
} from '../store/attemptStore.ts'
import { listOrdersOfTransaction } from '../store/orderEventStore.ts'
import { findOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import { isUnseen } from '../trading/orders/openAttempts.ts'
import {
  type Attempt,
  type OrderState,
  isTimeoutKnown,
  orderAnswer,
  type OrderRecord,
} from '../trading/orders/orderModel.ts'
import type { ChainOrders } from './chainOrders.ts'
import { isOwnSender, runWrite, senderOf, type SignedWrite } from './signedWrite.ts'
import { readOwnOrder, type OrderAtClock } from './orderAtClock.ts'
import type { Refolds } from '../journal/refold.ts'
import { isSameOrder, creationOfRequest, creationOfRestingOrder, type Creation } from '../chain/creation.ts'
import { EventDecodeError, decodeLog, type RawLog } from '../chain/events.ts'
import { diamondCall } from '../chain/diamondCalls.ts'
import type { RpcClient, RpcOutcome } from '../chain/rpcClient.ts'

/**
 * Records the transaction hash that an agent reports for a prepared order, in place of any it reported before. A report
 * only speeds things up and helps with a transaction that a wallet re-encoded; the follower reads the outcome from the
 * chain. So an unknown hash is accepted for a while, and a hash for an order that is already on the chain changes
 * nothing. Returns the order as it is then. Throws `SUBMISSION_MISMATCH` for what is known to be something else.
 */
export async function submitOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: SubmitOrderRequest,
): Promise<Order> {
  const hash = parseHex(body.txHash)!
  return runWrite(orders, write, {
    plan: () => {
      const clock = orders.clock()
      if (!isTimeoutKnown(clock)) throw notReady('starting')
      return readOwnOrder(orders.store.read, write, id, clock)
    },
    ask: () => lookUp(orders, write, hash),
    read: (sql, clock) => readOwnOrder(sql, write, id, clock),
    keep: async ({ sql, clock, refolds }, { record }, transaction, order) => {
      const state = await report(sql, { orders, order, hash, transaction, nowMs: clock.nowMs }, refolds)
      return orderAnswer(record, state)
    },
  })
}

interface Report {
  readonly orders: ChainOrders
  readonly order: OrderAtClock
  readonly hash: Hex
  /** The reported transaction; `undefined` when the node does not know it or does not answer. */
  readonly transaction: ReportedTransaction | undefined
  readonly nowMs: number
}

/** Looks up the reported transaction and checks the delegate. An unavailable node does not prevent a report. */
async function lookUp(orders: ChainOrders, write: SignedWrite, hash: Hex): Promise<ReportedTransaction | undefined> {
  const { chain, client, delegates } = orders
  const { trader } = write.agent
  const sender = senderOf(write)
  const askedAtMs = orders.now()
  try {
    const { delegate, transaction } = await readReport(client, { diamond: chain.diamond, trader, hash })
    delegates.learn(trader, delegate, askedAtMs)
    if (delegate !== sender && sender !== trader) throw agentNotDelegated(chain, sender)
    return transaction
  } catch (error) {
    if (!(error instanceof NodeUnavailableError)) throw error
    refuseKnownUndelegated(orders, write)
    return undefined
  }
}

/**
 * Refuses a sender that is known not to be the delegate. Uses cached data only, as the node has just failed to answer.
 */
function refuseKnownUndelegated({ chain, delegates }: ChainOrders, write: SignedWrite): void {
  const delegate = delegates.known(write.agent.trader)
  const isRefused = delegate !== undefined && delegate !== senderOf(write) && !isOwnSender(write)
  if (isRefused) throw agentNotDelegated(chain, senderOf(write))
}

/**
 * Records the hash with the attempt it belongs to and returns the order's new state. Throws `SUBMISSION_MISMATCH` and
 * leaves the order unchanged.
 */
async function report(sql: Sql, of: Report, refolds: Refolds): Promise<OrderState> {
  const { orders, order, hash, transaction, nowMs } = of
  const { diamond } = orders.chain
  const { id } = order.record
  const exact = order.attempts.find((attempt) => isTransactionOf(attempt, transaction, diamond))
  if (exact === undefined) await refuseOthers(sql, of)
  const attempt = exact ?? order.attempts.findLast((candidate) => !isMined(candidate, order))
  if (attempt === undefined || isMined(attempt, order)) return refolds.of(id)
  const isRepeat = isReportedAs(attempt, hash)
  if (isRepeat && (transaction === undefined || attempt.trustedUntilMs === null)) return refolds.of(id)
  if (exact === undefined) requireSameOrder(of, attempt)
  const isStanding = isRepeat && !isUnseen(attempt, nowMs)
  const submittedAtMs = isStanding ? (attempt.submittedAtMs ?? nowMs) : nowMs
  const trustedUntilMs = transaction === undefined ? nowMs + orders.settings.unknownHashMs : null
  await setSubmitted(sql, attempt.id, { hash, submittedAtMs, trustedUntilMs })
  for (const { orderId } of await listAttemptOrders(sql, attempt.id)) {
    if (orderId !== id) await refolds.of(orderId)
  }
  return refolds.of(id)
}

/**
 * Refuses a transaction that belongs to another order: reported for it, prepared for it, or mined as it. Orders that
 * share a transaction with this one are none of those.
 */
async function refuseOthers(sql: Sql, { orders, order, hash, transaction }: Report): Promise<void> {
  const { slug } = orders.chain
  const { id, trader } = order.record
  const own = new Set(order.attempts.map((attempt) => attempt.id))
  const reported = await listAttemptsByHash(sql, slug, hash, trader)
  if (reported.some(({ attempt }) => !own.has(attempt.id))) throw mismatch('This hash was reported for another order.')
  if (transaction === undefined) return
  const named = await findAttempt(sql, attemptIdIn(transaction.input))
  if (named?.chain === slug && !own.has(named.attempt.id)) {
    throw mismatch('This transaction was prepared for another order.')
  }
  const { receipt } = transaction
  if (receipt === undefined) return
  for (const other of await listOrdersOfTransaction(sql, slug, { blockHash: receipt.blockHash, txHash: hash })) {
    if (other === id || (await isForeign(sql, other))) continue
    const others = await listAttempts(sql, other)
    if (!others.some((attempt) => own.has(attempt.id))) throw mismatch('This transaction was mined as another order.')
  }
}

/** True for an order that was found on the chain: it may be this one, mined before it was reported. */
async function isForeign(sql: Sql, id: OrderId): Promise<boolean> {
  return (await findOrder(sql, id))?.record.originKey !== null
}

/**
 * Accepts a transaction with other calldata when it created the same order. While it is not mined it still may, if the
 * sender of the prepared one sent it to the Diamond.
 */
function requireSameOrder({ orders, order, transaction }: Report, { kind, sender }: Attempt): void {
  if (transaction === undefined) return
  const { from, to, receipt } = transaction
  if (receipt === undefined) {
    if (from === sender && to === orders.chain.diamond) return
    throw mismatch(`This transaction is not the one that was prepared, nor one of ${sender} to the Diamond.`)
  }
  const creates = kind === 'open' || kind === 'replace'
  if (creates && !receipt.isReverted && hasCreated(receipt.logs, order.record)) return
  throw mismatch('This transaction was mined without creating this order for this trader.')
}

/**
 * Returns true when the transaction is this attempt. The sender is compared too: calldata without a delegation around
 * it acts for whoever sends it.
 */
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

/** Returns true when the Diamond's logs show that the transaction created this order for this trader. */
function hasCreated(logs: readonly RawLog[], { trader, request }: OrderRecord): boolean {
  return logs
    .map(creationIn)
    .some((creation) => creation !== undefined && creation.trader === trader && isSameOrder(request, creation))
}

function creationIn(log: RawLog): Creation | undefined {
  const event = decoded(log)
  if (event?.name === 'PendingOrderStored') return creationOfRequest(event)
  const isResting = event?.name === 'TradeStored' && event.args.trade.tradeType !== TradeType.TRADE
  return isResting ? creationOfRestingOrder(event) : undefined
}

/** Decodes a log; one that can't be decoded is ignored, because the follower judges the chain's events. */
function decoded(log: RawLog): ReturnType<typeof decodeLog> {
  try {
    return decodeLog(log)
  } catch (error) {
    if (error instanceof EventDecodeError) return undefined
    throw error
  }
}

/** A reported transaction as the node knows it. */
interface ReportedTransaction {
  readonly from: Address
  readonly to: Address | null
  readonly input: Hex
  /** Receipt with the Diamond's logs; `undefined` while the transaction is not mined. */
  readonly receipt:
    { readonly blockHash: Hex; readonly isReverted: boolean; readonly logs: readonly RawLog[] } | undefined
}

/** The trader's delegate and the transaction; the latter is `undefined` while the node does not know it. */
interface ReportLook {
  readonly delegate: Address
  readonly transaction: ReportedTransaction | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Reads the transaction, its receipt and the trader's delegate in one round trip. Throws `NodeUnavailableError`. */
async function readReport(
  client: RpcClient,
  of: { readonly diamond: Address; readonly trader: Address; readonly hash: Hex },
): Promise<ReportLook> {
  const delegate = diamondCall(of.diamond, 'getTradingDelegate', [of.trader])
  const [delegateOutcome, transaction, receipt] = await client.batch([
    delegate.call,
    { method: 'eth_getTransactionByHash', params: [of.hash] },
    { method: 'eth_getTransactionReceipt', params: [of.hash] },
  ])
  if (delegateOutcome === undefined) throw new NodeUnavailableError('the node gave no answer')
  return {
    delegate: delegate.decode(delegateOutcome) as Address,
    transaction: readTransaction(resultOf(transaction), resultOf(receipt), of.diamond),
  }
}

function resultOf(outcome: RpcOutcome | undefined): Fields | undefined {
  if (outcome?.ok !== true) throw new NodeUnavailableError('the node could not look a transaction up')
  if (outcome.result === null) return undefined
  if (typeof outcome.result !== 'object') throw garbage()
  return outcome.result as Fields
}

function readTransaction(
  transaction: Fields | undefined,
  receipt: Fields | undefined,
  diamond: Address,
): ReportedTransaction | undefined {
  if (transaction === undefined) return undefined
  const from = addressIn(transaction.from)
  const input = bytesIn(transaction.input)
  if (from === undefined) throw garbage()
  return { from, to: addressIn(transaction.to) ?? null, input, receipt: readReceipt(receipt, diamond) }
}

function readReceipt(receipt: Fields | undefined, diamond: Address): ReportedTransaction['receipt'] {
  if (receipt === undefined) return undefined
  const { status, logs, blockHash } = receipt
  if ((status !== '0x0' && status !== '0x1') || !Array.isArray(logs)) throw garbage()
  const own = (logs as readonly Fields[]).filter(({ address }) => addressIn(address) === diamond)
  return { blockHash: bytesIn(blockHash), isReverted: status === '0x0', logs: own.map(readLog) }
}

function readLog({ topics, data }: Fields): RawLog {
  if (!Array.isArray(topics)) throw garbage()
  return { topics: topics.map(bytesIn), data: bytesIn(data) }
}

function addressIn(value: unknown): Address | undefined {
  return typeof value === 'string' ? parseAddress(value) : undefined
}

function bytesIn(value: unknown): Hex {
  const bytes = typeof value === 'string' ? parseHex(value) : undefined
  if (bytes === undefined) throw garbage()
  return bytes
}

function garbage(): NodeUnavailableError {
  return new NodeUnavailableError('the node described a transaction with something that makes no sense')
}
