import { PendingOrderType, TradeType, type Address, type OrderId } from '@bezel/protocol'
import type { ChainBlock, ChainTransaction, PlacedEvent } from '../chain/blocks.ts'
import { creationOfRequest, creationOfRestingOrder } from '../chain/creation.ts'
import { attemptIdIn, type StoredAttempt } from '../store/attemptStore.ts'
import type { OrderHandle } from '../store/orderEventStore.ts'
import { foundRequestKey, foundTradeKey } from '../trading/orders/orderModel.ts'
import { updateHandleOf, updateKindOf } from './applyUpdate.ts'
import { closingKeyOf } from './applyExecuted.ts'
import type { BlockReads } from './blockReads.ts'
import { isExactly, originKeyOf, traderOf } from './transactionScope.ts'

// The reads that applying the events of blocks will make, all at once. A read that is missing here costs a round trip
// of its own, and one too many costs a row; neither changes what is applied.

/** Makes the reads of blocks ahead. */
export async function readAhead(reads: BlockReads, blocks: readonly ChainBlock[]): Promise<void> {
  const transactions = blocks.flatMap((block) => block.transactions)
  await reads.ahead(() => Promise.all(transactions.map((transaction) => readTransaction(reads, transaction))))
}

/** Returns the greatest number of ids that the orders, positions and fills of blocks need. */
export function countIds(blocks: readonly ChainBlock[]): number {
  const events = blocks.flatMap(({ transactions }) => transactions.flatMap((transaction) => transaction.events))
  return events.reduce((count, { name }) => count + (IDS_OF[name] ?? 0), 0)
}

/** Numbers of ids that an event may need: an order or a fill has one, an opened position a further one. */
const IDS_OF: Readonly<Partial<Record<PlacedEvent['name'], number>>> = {
  PendingOrderStored: 1,
  TradeStored: 2,
  MarketExecuted: 1,
  LimitExecuted: 2,
  MarketOpenCanceled: 1,
  MarketCloseCanceled: 1,
  PositionSizeIncreaseExecuted: 1,
  PositionSizeDecreaseExecuted: 1,
  LeverageUpdateExecuted: 1,
  TradePositivePnlWithdrawn: 1,
  HoldingFeesRealizedOnTrade: 1,
}

async function readTransaction(reads: BlockReads, transaction: ChainTransaction): Promise<void> {
  const { hash, events, hasLogs, input } = transaction
  if (!hasLogs) return void (await reads.attemptsNamed(attemptIdIn(input)))
  const created = events.filter(({ name }) => name === 'PendingOrderStored' || name === 'TradeStored')
  await Promise.all([
    ...created.map((_, at) => reads.orderByOrigin(originKeyOf(hash, at))),
    ...events.map((event) => readEvent(reads, transaction, event)),
  ])
}

async function readEvent(reads: BlockReads, transaction: ChainTransaction, event: PlacedEvent): Promise<unknown> {
  switch (event.name) {
    case 'PendingOrderStored':
      return readRequest(reads, transaction, event)
    case 'TradeStored':
      return readStored(reads, transaction, event)
    case 'PendingOrderClosed':
      return readUpdate(reads, event.args.orderId)
    case 'OpenOrderDetailsUpdated':
      return readByTrader(reads, transaction, { trader: event.args.user, handle: `trade:${event.args.index}` })
    case 'OpenLimitCanceled':
      return readByTrader(reads, transaction, { trader: event.args.trader, handle: `trade:${event.args.index}` })
    case 'ChainlinkCallbackTimeout': {
      const { user, index } = event.args.pendingOrderId
      return readByTrader(reads, transaction, { trader: user, handle: `pending:${index}` })
    }
    case 'MarketExecuted': {
      const { user, index, orderId } = event.args
      const opened = readHandle(reads, orderId.user, `pending:${orderId.index}`)
      return Promise.all([readTrade(reads, user, index), opened])
    }
    case 'LimitExecuted':
      return readTriggered(reads, event)
    case 'MarketOpenCanceled': {
      const id = await readHandle(reads, event.args.orderId.user, `pending:${event.args.orderId.index}`)
      return id === undefined ? undefined : reads.order(id)
    }
    case 'MarketCloseCanceled':
    case 'PositionSizeIncreaseExecuted':
    case 'PositionSizeDecreaseExecuted':
    case 'LeverageUpdateExecuted': {
      const { orderId, trader, index } = event.args
      const handle = readHandle(reads, orderId.user, `pending:${orderId.index}`)
      return Promise.all([readTrade(reads, trader, Number(index)), handle, readUpdate(reads, orderId)])
    }
    case 'FeesProcessed':
    case 'GovFeeCharged':
      return undefined
    default: {
      const { args } = event
      return readTrade(reads, 'user' in args ? args.user : args.trader, args.index)
    }
  }
}

type EventNamed<Name extends PlacedEvent['name']> = Extract<PlacedEvent, { readonly name: Name }>

/** Reads what a request to the oracle needs: the order that it was prepared for, or the position that it changes. */
async function readRequest(
  reads: BlockReads,
  transaction: ChainTransaction,
  event: EventNamed<'PendingOrderStored'>,
): Promise<unknown> {
  const { user, index, trade, orderType } = event.args.pendingOrder
  const trader = traderOf(user)
  const creation = creationOfRequest(event)
  const isOnPosition = updateKindOf(orderType) !== undefined || (creation !== undefined && creation.kind !== 'open')
  const position = isOnPosition ? readTrade(reads, trader, trade.index) : undefined
  const asked = [
    position?.then((id) => id && reads.positionAttempt(attemptIdIn(transaction.input), id)),
    ...(creation === undefined
      ? []
      : [readMatch(reads, transaction, trader), reads.orderByOrigin(foundRequestKey(trader, index))]),
  ]
  return Promise.all(asked)
}

/** Reads what a stored trade needs: a resting order that was prepared, or what a snapshot found as this position. */
async function readStored(
  reads: BlockReads,
  transaction: ChainTransaction,
  event: EventNamed<'TradeStored'>,
): Promise<unknown> {
  const { args } = event
  const isOpened = args.trade.tradeType === TradeType.TRADE
  const trader = isOpened ? traderOf(args.user) : creationOfRestingOrder(event).trader
  return Promise.all([
    reads.orderByOrigin(foundTradeKey(trader, isOpened ? args.index : args.trade.index)),
    isOpened ? undefined : readMatch(reads, transaction, trader),
  ])
}

async function readTriggered(reads: BlockReads, { args }: EventNamed<'LimitExecuted'>): Promise<unknown> {
  const { user, index, limitIndex, orderType } = args
  const isOpening = orderType === PendingOrderType.LIMIT_OPEN || orderType === PendingOrderType.STOP_OPEN
  if (isOpening) return Promise.all([readTrade(reads, user, index), readHandle(reads, user, `trade:${limitIndex}`)])
  const positionId = await readTrade(reads, user, index)
  const originKey = positionId === undefined ? undefined : closingKeyOf(orderType, positionId)
  return originKey === undefined ? undefined : reads.orderByOrigin(originKey)
}

/** Reads the attempts that a transaction can be, with their orders. */
async function readMatch(reads: BlockReads, transaction: ChainTransaction, trader: Address): Promise<void> {
  const { hash, from, input } = transaction
  const named = await reads.attemptsNamed(attemptIdIn(input))
  const isNamed = named.some((found) => isExactly(found, transaction))
  const others = isNamed
    ? []
    : await Promise.all([reads.attemptsByHash(hash, trader), reads.attemptsByCall(from, trader, input)])
  const found: readonly StoredAttempt[] = [...named, ...others.flat()]
  await Promise.all(
    // A position, because the answer of the oracle may be in the same block.
    found.flatMap(({ orderId: id }) => [reads.order(id), reads.orderEvents(id), reads.positionByOrigin(id)]),
  )
}

/** Reads what a change by the trader needs: its order, and the attempts that the transaction can be. */
async function readByTrader(
  reads: BlockReads,
  { input, hash }: ChainTransaction,
  of: { readonly trader: `0x${string}`; readonly handle: OrderHandle },
): Promise<unknown> {
  const trader = traderOf(of.trader)
  const attempts = [reads.attemptsNamed(attemptIdIn(input)), reads.attemptsByHash(hash, trader)]
  return Promise.all([reads.orderIdByHandle(trader, of.handle), ...attempts])
}

/** Reads the order with a handle, and the position that it has opened. */
async function readHandle(reads: BlockReads, trader: `0x${string}`, handle: OrderHandle): Promise<OrderId | undefined> {
  const id = await reads.orderIdByHandle(traderOf(trader), handle)
  if (id !== undefined) await reads.positionByOrigin(id)
  return id
}

/** Reads the position of a trade, and the place of its last event. */
async function readTrade(reads: BlockReads, trader: `0x${string}`, tradeIndex: number): Promise<OrderId | undefined> {
  const id = (await reads.positionByTrade(traderOf(trader), tradeIndex))?.record.id
  if (id !== undefined) await reads.lastPlace(id)
  return id
}

/** Reads the position whose pending change has this index. */
async function readUpdate(
  reads: BlockReads,
  { user, index }: { readonly user: `0x${string}`; readonly index: number },
): Promise<void> {
  const id = await reads.positionIdByHandle(updateHandleOf(traderOf(user), index))
  if (id !== undefined) await Promise.all([reads.position(id), reads.lastPlace(id)])
}
