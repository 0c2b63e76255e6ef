import { type ChainSlug, Leverage, type Hex, type OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { forgetFinalBlocks, insertBlock, insertKeptBlock, findBlock } from '../store/blockStore.ts'
import { listDueOrders, findOrder, findOrderByOrigin } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock, ChainPlace, OrderRequest } from '../trading/orders/orderModel.ts'
import { createBlockScope, type BlockScope } from './blockScope.ts'
import type { ChainBlock, Receipt, ChainTransaction } from '../chain/blocks.ts'
import type { Finality } from '../chain/finality.ts'
import { applyEvent } from './applyEvent.ts'
import { addRealizedHoldingFees } from './historyEntries.ts'
import { countIds, readAhead } from './readAhead.ts'
import { createTransactionScope, type TransactionScope } from './transactionScope.ts'
import { listAttemptsByHash, setMismatch, setSeen, type StoredAttempt } from '../store/attemptStore.ts'
import { findOrderEventAt, listOrderEvents, moveOrderEvents } from '../store/orderEventStore.ts'
import { isSameOrder, type Creation } from '../chain/creation.ts'
import { findPositionByOrigin, listDueUpdates, movePosition } from '../store/positionStore.ts'
import { canTake } from './matchCreation.ts'
import type { ReportedReading } from './readReported.ts'
import type { RenewedParams } from './readRenewedParams.ts'

export interface ApplyOptions {
  readonly chain: ChainSlug
  readonly markets: ChainMarkets
  readonly renewed: RenewedParams
  readonly finality: Pick<Finality, 'lastFinal'>
  readonly nowMs: number
  readonly timeoutBlocks: number
}

/**
 * Maximum number of orders due by time, and again of those due by block number, that one call folds; the rest follow
 * with the next block.
 */
const MAX_DUE_ORDERS = 500

/**
 * Applies blocks inside the caller's transaction: all of them with the cursor, or none. Every order and position they
 * touch is folded once, as of the last block.
 */
export async function applyBlocks(
  sql: Sql,
  [first, ...others]: readonly [ChainBlock, ...ChainBlock[]],
  { receipts, seen, passedOver = [] }: ReportedReading,
  options: ApplyOptions,
  journal: Journal,
): Promise<void> {
  const { chain, markets, renewed, finality, nowMs, timeoutBlocks } = options
  const scope = createBlockScope({ sql, chain, block: first.block, markets, renewed, journal })
  const last = others.at(-1) ?? first
  const dueAt = { nowMs, headBlock: last.block.number, limit: MAX_DUE_ORDERS }
  const listDue = () => Promise.all([listDueOrders(sql, chain, dueAt), listDueUpdates(sql, chain, dueAt)])
  const [[due, dueUpdates]] = await Promise.all([listDue(), prepareReads(scope, [first, ...others])])
  for (const { block, transactions } of [first, ...others]) {
    scope.enter(block)
    for (const transaction of transactions) await applyTransaction(scope, transaction)
    await insertBlock(sql, chain, block)
  }
  scope.reads.forget()
  for (const block of passedOver) {
    if ((await findBlock(sql, chain, block.number)) === undefined) await insertKeptBlock(sql, chain, block)
  }
  for (const receipt of receipts) await settleReported(scope, receipt)
  for (const transaction of seen) {
    for (const id of await setSeen(sql, chain, transaction, nowMs)) scope.touchOrder(id)
  }
  const { block } = scope

  const clock: FoldClock = { nowMs, headBlock: block.number, headMs: block.timestampMs, timeoutBlocks }
  for (const id of due) scope.touchOrder(id)
  await Promise.all(dueUpdates.map((id) => scope.touchPosition(id)))
  await scope.settle(clock)
  await forgetFinalBlocks(sql, chain, finality.lastFinal(block.number))
}

/** Reads ahead what the blocks need. SQLite answers each read at once, so there is nothing to gain. */
async function prepareReads(scope: BlockScope, blocks: readonly ChainBlock[]): Promise<void> {
  if (scope.sql.engine === 'sqlite') return
  await Promise.all([readAhead(scope.reads, blocks), scope.expectIds(countIds(blocks))])
}

/** Applies everything that one transaction did, in log order. */
export async function applyTransaction(scope: BlockScope, transaction: ChainTransaction): Promise<void> {
  const tx = createTransactionScope(scope, transaction)
  if (!transaction.hasLogs) return applySilent(tx)
  for (const [at, event] of transaction.events.entries()) await applyEvent(tx, event, at)
  await addRealizedHoldingFees(tx)
}

/**
 * Handles a transaction without a log. Every transaction that this service prepares emits a log when it succeeds, so a
 * prepared one without a log reverted. Counts only when the sender is the one it was prepared for, because anybody can
 * copy the calldata and let it fail.
 */
async function applySilent(tx: TransactionScope): Promise<void> {
  const place = tx.placeOf(-1 - tx.transaction.index)
  for (const found of await tx.listExactAttempts()) {
    if (found.attempt.sender === tx.transaction.from) await addReverted(tx.scope, found, place)
  }
}

/**
 * Handles a reported transaction that is mined but has not yet changed its order. Either it failed, or it was mined
 * before it was reported and its order counts as a foreign one, or it has nothing to do with the order. Runs after the
 * transactions of the block.
 */
async function settleReported(scope: BlockScope, receipt: Receipt): Promise<void> {
  const place = await findPlace(scope, receipt)
  if (place === undefined) return
  for (const found of await listAttemptsByHash(scope.sql, scope.chain, receipt.txHash, null)) {
    const isItsOwn = receipt.isReverted
      ? await addReverted(scope, found, place)
      : (await isAnswered(scope, found, receipt)) || (await adoptOrder(scope, found, receipt.txHash))
    if (isItsOwn) continue
    await setMismatch(scope.sql, found.attempt.id, found.orderId)
    scope.touchOrder(found.orderId)
  }
}

/** Returns the place of the transaction; `undefined` while its block is not applied or is not on the followed chain. */
async function findPlace({ sql, chain, block }: BlockScope, receipt: Receipt): Promise<ChainPlace | undefined> {
  const { blockNumber, blockHash, txHash } = receipt
  if (blockNumber > block.number) return undefined
  const applied = blockNumber === block.number ? block : await findBlock(sql, chain, blockNumber)
  if (applied !== undefined && applied.hash !== blockHash) return undefined
  // The time of a block too old to be kept is unknown, so the current block's stands in for it.
  const { timestampMs } = applied ?? block
  return { blockNumber, blockHash, logIndex: -1 - receipt.index, txHash, timestampMs }
}

async function isAnswered({ sql }: BlockScope, { orderId }: StoredAttempt, { txHash }: Receipt): Promise<boolean> {
  const events = await listOrderEvents(sql, orderId)
  return events.some((event) => event.txHash === txHash)
}

/** Distance between the places of the failures of two orders of one transaction: more than a block has transactions. */
const PLACES_PER_BLOCK = 1_000_000

/**
 * Records once that an attempt's transaction failed for one of its orders. `first` is the place of the failure for its
 * first order. Returns false when the transaction is known to belong to another order.
 */
async function addReverted(
  scope: BlockScope,
  { orderId, attempt, place }: StoredAttempt,
  first: ChainPlace,
): Promise<boolean> {
  const { sql, chain } = scope
  const known = await findOrderEventAt(sql, chain, first)
  if (known !== undefined && known.attemptId !== attempt.id) return known.orderId === orderId
  const own = { ...first, logIndex: first.logIndex - place * PLACES_PER_BLOCK }
  if ((await findOrderEventAt(sql, chain, own)) !== undefined) return true
  const order = await findOrder(sql, orderId)
  if (order === undefined) return false
  const event = { ...own, attemptId: attempt.id, kind: 'reverted' } as const
  await scope.addOrderEvent({ trader: order.record.trader, orderId, handle: null, event })
  return true
}

/** Maximum number of orders looked for in one transaction; more than a multicall of the Diamond can create. */
const MAX_CREATED = 20

/**
 * Handles a transaction that a wallet re-encoded and that was mined before it was reported: its order was stored as a
 * foreign one. Moves the foreign order's events and position to the order that the transaction was prepared for; the
 * position keeps its id. Returns true when there was one.
 */
async function adoptOrder(scope: BlockScope, { orderId, attempt }: StoredAttempt, txHash: Hex): Promise<boolean> {
  const ours = await findOrder(scope.sql, orderId)
  if (ours === undefined || attempt.kind !== 'open') return false
  const { request, trader } = ours.record
  let isAdopted = false
  for (let n = 0; n < MAX_CREATED; n += 1) {
    const made = await findOrderByOrigin(scope.sql, scope.chain, `tx:${txHash}:${n}`)
    if (made?.state === undefined || made.record.trader !== trader) continue
    if (!isSameOrder(request, creationOf(made.record.request))) continue
    if (!(await canTake({ scope, transaction: { hash: txHash } }, orderId, request, 'open'))) continue
    if (await take(scope, made.record.id, orderId)) isAdopted = true
  }
  return isAdopted
}

async function take(scope: BlockScope, from: OrderId, to: OrderId): Promise<boolean> {
  const { sql } = scope
  if ((await findPositionByOrigin(sql, to)) !== undefined) return false
  await moveOrderEvents(sql, from, to)
  await movePosition(sql, from, to)
  scope.moved(from, to)
  return true
}

function creationOf({
  kind,
  type,
  pairIndex,
  collateralIndex,
  side,
  leverage,
  legs,
}: OrderRequest): Omit<Creation, 'trader'> {
  return {
    kind,
    type,
    pairIndex,
    collateralIndex,
    side,
    leverage: Number(Leverage.parse(leverage)),
    tradeIndex: legs[0]?.tradeIndex ?? 0,
  }
}
