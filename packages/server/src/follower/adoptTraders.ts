import { CollateralAmount, TradeType, withScales, type Address, type OrderId } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { creationOfRequest } from '../chain/creation.ts'
import { createBreaks } from '../ground/breaks.ts'
import { findOrder, listLiveOrders } from '../store/orderStore.ts'
import { listOpenPositionsOf } from '../store/positionStore.ts'
import { MAX_LOG_INDEX, readHighestLogIndex } from '../store/snapshotStore.ts'
import { restingTerms } from '../trading/orders/foldOrder.ts'
import { foundRequestKey, foundTradeKey, type ChainPlace, type RestingTerms } from '../trading/orders/orderModel.ts'
import type { AskedUpdate, PositionEvent, PositionState } from '../trading/positions/positionModel.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { updateHandleOf, updateKindOf } from './applyUpdate.ts'
import type { BlockScope } from './blockScope.ts'
import { keepForeignOrder, openRequest, readRequestOnPosition } from './foreignOrders.ts'
import type { FoundPosition, FoundTrade, FoundTrader, PendingOrder } from './foundTraders.ts'

// Stores what was found on the chain, as of the scope's block. Only what differs from what is known makes an event, so
// reading a trader again changes nothing when nothing was missed.

/** Gives each found thing a place of its own in the block. */
type NextPlace = () => ChainPlace

/** Stores everything that was found of these traders. The caller settles the scope. */
export async function adoptTraders(scope: BlockScope, found: readonly FoundTrader[]): Promise<void> {
  const next = await createPlaces(scope)
  const takeBreak = createBreaks()
  for (const { trader, positions, ended, resting, requests } of found) {
    for (const position of positions) await adoptPosition(scope, trader, position, requests, next)
    for (const position of ended) await adoptEnded(scope, trader, position, requests, next)
    for (const order of resting) await adoptResting(scope, trader, order, next)
    for (const request of requests) await adoptRequest(scope, trader, request, next)
    await takeBreak()
  }
}

async function createPlaces({ sql, chain, block }: BlockScope): Promise<NextPlace> {
  let highest = Math.max(MAX_LOG_INDEX, await readHighestLogIndex(sql, chain, block.hash))
  const { number: blockNumber, hash: blockHash, timestampMs } = block
  return () => {
    highest += 1
    return { blockNumber, blockHash, logIndex: highest, txHash: null, timestampMs }
  }
}

type AdoptedPosition = Extract<PositionEvent, { kind: 'adopted' }>

async function adoptPosition(
  scope: BlockScope,
  trader: Address,
  { trade, info, liquidationParams, feesData, oldBorrowing, maxSlippageP, createdBlock }: FoundPosition,
  requests: readonly PendingOrder[],
  next: NextPlace,
): Promise<void> {
  const id = (await scope.findPosition(trader, trade.index)) ?? (await openFound(scope, trader, trade))
  const body: Omit<AdoptedPosition, keyof ChainPlace> = {
    kind: 'adopted',
    trade,
    info,
    liquidationParams,
    feesData,
    oldBorrowing,
    maxClosingSlippageP: maxSlippageP,
    createdBlock,
    update: updateOf(requests, trade.index),
  }
  const known = await scope.readPositionState(id)
  if (known !== undefined && isAsFound(known, body)) return
  const handle = body.update === null ? undefined : updateHandleOf(trader, body.update.pendingIndex)
  const isNew = handle !== undefined && (await scope.findPositionByHandle(handle)) === undefined
  await scope.addPositionEvent(id, { ...next(), ...body }, isNew ? handle : undefined)
}

/** Stores a position that ended before its last request was answered. The way in which it ended is not known. */
async function adoptEnded(
  scope: BlockScope,
  trader: Address,
  position: FoundPosition,
  requests: readonly PendingOrder[],
  next: NextPlace,
): Promise<void> {
  const { index } = position.trade
  if ((await scope.findPosition(trader, index)) !== undefined) return
  await adoptPosition(scope, trader, position, requests, next)
  const id = await scope.findPosition(trader, index)
  if (id !== undefined) await scope.addPositionEvent(id, { ...next(), kind: 'closed' })
}

/**
 * Opens the position of a found trade. Every position belongs to an order; this one belongs to an order without events,
 * which is not shown: nobody knows how it was opened.
 */
async function openFound(scope: BlockScope, trader: Address, trade: FoundTrade['trade']): Promise<OrderId> {
  const request = openRequest(scope, trade, { type: 'market', slippageP: 0 })
  const originKey = foundTradeKey(trader, trade.index)
  const originOrderId = await keepForeignOrder(scope, { originKey, trader, request })
  return scope.openPosition(trader, trade.index, originOrderId)
}

/** Returns the change of a trade that waits for the oracle; the Diamond allows one at a time. */
function updateOf(requests: readonly PendingOrder[], tradeIndex: number): AskedUpdate | null {
  for (const { trade, index: pendingIndex, orderType, createdBlock } of requests) {
    const update = updateKindOf(orderType)
    if (update === undefined || trade.index !== tradeIndex) continue
    const { leverage } = trade
    return {
      pendingIndex,
      update,
      leverage,
      collateralAmount: CollateralAmount.of(trade.collateralAmount),
      createdBlock,
    }
  }
  return null
}

/** Returns true when everything that the chain says of a position is known. */
function isAsFound(state: PositionState, found: Omit<AdoptedPosition, keyof ChainPlace>): boolean {
  const { isOpen, trade, info, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP, pendingUpdate } = state
  return (
    isOpen &&
    pendingUpdate?.pendingIndex === found.update?.pendingIndex &&
    isDeepStrictEqual(
      { trade, info, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP },
      {
        trade: found.trade,
        info: found.info,
        liquidationParams: found.liquidationParams,
        feesData: found.feesData,
        oldBorrowing: found.oldBorrowing,
        maxClosingSlippageP: found.maxClosingSlippageP,
      },
    )
  )
}

async function adoptResting(
  scope: BlockScope,
  trader: Address,
  { trade, maxSlippageP: slippageP }: FoundTrade,
  next: NextPlace,
): Promise<void> {
  const handle = `trade:${trade.index}` as const
  const known = await scope.findOrderByHandle(trader, handle)
  const type = trade.tradeType === TradeType.LIMIT ? 'limit' : 'stop'
  const orderId =
    known ??
    (await keepForeignOrder(scope, {
      originKey: foundTradeKey(trader, trade.index),
      trader,
      request: openRequest(scope, trade, { type, slippageP }),
    }))
  const { index: tradeIndex, collateralAmount, openPrice: price, sl, tp } = trade
  const terms = { price, sl, tp, slippageP }
  if (known !== undefined && (await rests(scope, known, tradeIndex, terms))) return
  await scope.addOrderEvent({
    trader,
    orderId,
    handle: known === undefined ? handle : null,
    event: { ...next(), attemptId: null, kind: 'adopted', found: 'resting', tradeIndex, collateralAmount, ...terms },
  })
}

/** Returns true when an order is known to rest under this index and on these terms. */
async function rests({ sql }: BlockScope, orderId: OrderId, tradeIndex: number, terms: RestingTerms): Promise<boolean> {
  const state = (await findOrder(sql, orderId))?.state
  if (state?.tradeIndex !== tradeIndex) return false
  const { price, sl, tp, slippage } = state
  return isDeepStrictEqual({ price, sl, tp, slippage }, restingTerms(terms))
}

async function adoptRequest(
  scope: BlockScope,
  trader: Address,
  pendingOrder: PendingOrder,
  next: NextPlace,
): Promise<void> {
  const { index: pendingIndex, trade, createdBlock, maxSlippageP } = pendingOrder
  const creation = creationOfRequest({ name: 'PendingOrderStored', args: { pendingOrder } })
  if (creation === undefined) return
  const handle = `pending:${pendingIndex}` as const
  if ((await scope.findOrderByHandle(trader, handle)) !== undefined) return
  const request =
    creation.kind === 'open'
      ? openRequest(scope, withScales<Trade>(trade), { type: 'market', slippageP: maxSlippageP })
      : await readRequestOnPosition(scope, pendingOrder, creation)
  if (request === undefined) return
  const orderId = await keepForeignOrder(scope, { originKey: foundRequestKey(trader, pendingIndex), trader, request })
  const { index: tradeIndex } = trade
  await scope.addOrderEvent({
    trader,
    orderId,
    handle,
    event: { ...next(), attemptId: null, kind: 'adopted', found: 'request', pendingIndex, tradeIndex, createdBlock },
  })
}

/**
 * Ends the positions and resting orders of a trader that the chain no longer has, because the block that ended them was
 * missed. What they were closed at is not known, so they have no fill.
 */
export async function endMissed(scope: BlockScope, { trader, positions, resting }: FoundTrader): Promise<void> {
  const { sql, chain } = scope
  const open = new Set([...positions, ...resting].map(({ trade }) => trade.index))
  const next = await createPlaces(scope)
  for (const { record, state } of await listOpenPositionsOf(sql, chain, trader)) {
    if (state !== undefined && open.has(state.trade.index)) continue
    await scope.addPositionEvent(record.id, { ...next(), kind: 'closed' })
  }
  for (const { record, state } of await listLiveOrders(sql, chain, trader)) {
    if (state === undefined || state.tradeIndex === null || open.has(state.tradeIndex)) continue
    const event = { ...next(), attemptId: null, kind: 'canceled' } as const
    await scope.addOrderEvent({ trader, orderId: record.id, handle: null, event })
  }
}
