import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { foldNewOrder, refoldOrder } from '../journal/refoldOrder.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { nextId, useUpIds } from '../store/idStore.ts'
import { findOrderIdByHandle, insertOrderEvent, type OrderHandle } from '../store/orderEventStore.ts'
import { insertOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock, OrderEvent, OrderRecord } from '../trading/orders/orderModel.ts'
import type { PositionEvent, PositionState } from '../trading/positions/positionModel.ts'
import { createTouchedPositions } from './touchedPositions.ts'

/**
 * What applying blocks works with: the transaction of the store, and what was touched in it. Everything is written at once, but what was written
 * or read is not read again: most of what a block says is of orders and positions that the blocks just before it spoke of.
 */
export interface BlockScope {
  readonly sql: Sql
  readonly chain: ChainSlug
  /** The one that is applied now. */
  readonly block: FollowedBlock
  readonly markets: ChainMarkets
  readonly journal: Journal
  enter(block: FollowedBlock): void
  nextId(): Promise<OrderId>
  /** An order that was found on the chain. */
  addOrder(record: OrderRecord): Promise<void>
  addOrderEvent(of: {
    readonly trader: Address
    readonly orderId: OrderId
    readonly handle: OrderHandle | null
    readonly event: OrderEvent
  }): Promise<void>
  /** `undefined`: the chain knows no order by this name. */
  orderByHandle(trader: Address, handle: OrderHandle): Promise<OrderId | undefined>
  addPositionEvent(positionId: OrderId, event: PositionEvent): Promise<void>
  /** An order to be folded again though no event was added to it. */
  touchOrder(id: OrderId): void
  /** In the store, what was said of one order is now said of another, and its position is the other's. */
  moved(from: OrderId, to: OrderId): void
  /** The position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  openPosition(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** `undefined`: no position with this trade index is known. */
  positionOf(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  /** As of the last event that was added. */
  stateOf(positionId: OrderId): Promise<PositionState | undefined>
  /** Folds everything that was touched, each once. */
  settle(clock: FoldClock): Promise<void>
}

/** Made by this transaction, with all that was said of it. */
interface NewOrder {
  readonly record: OrderRecord
  readonly events: OrderEvent[]
}

export function createBlockScope(of: Pick<BlockScope, 'sql' | 'chain' | 'block' | 'markets' | 'journal'>): BlockScope {
  const { sql, chain, journal } = of
  const orders = new Set<OrderId>()
  const newOrders = new Map<OrderId, NewOrder>()
  const handles = new Map<string, OrderId>()
  const ids = createIds(sql)
  const positions = createTouchedPositions({ sql, chain, journal, nextId: ids.next })
  let block = of.block

  return {
    ...of,
    get block() {
      return block
    },
    enter(next) {
      block = next
    },
    nextId: ids.next,
    async addOrder(record) {
      await insertOrder(sql, record)
      newOrders.set(record.id, { record, events: [] })
    },
    async addOrderEvent(added) {
      const { trader, orderId, handle, event } = added
      await insertOrderEvent(sql, { chain, ...added })
      newOrders.get(orderId)?.events.push(event)
      if (handle !== null) handles.set(`${trader} ${handle}`, orderId)
      orders.add(orderId)
    },
    orderByHandle: async (trader, handle) =>
      handles.get(`${trader} ${handle}`) ?? (await findOrderIdByHandle(sql, chain, trader, handle)),
    addPositionEvent: positions.addEvent,
    touchOrder: (id) => void orders.add(id),
    moved(from, to) {
      for (const id of [from, to]) {
        newOrders.delete(id)
        orders.add(id)
      }
      handles.clear()
      positions.moved(from, to)
    },
    openPosition: positions.open,
    positionOf: positions.idOf,
    stateOf: positions.stateOf,
    async settle(clock) {
      await positions.settle()
      for (const id of orders) {
        const made = newOrders.get(id)
        if (made === undefined) await refoldOrder(sql, id, clock, journal)
        else await foldNewOrder(sql, made.record, made.events, clock, journal)
      }
      await ids.settle()
    },
  }
}

/** Nobody else takes an id before the transaction ends, so only the first and the count of all are told to the store. */
function createIds(sql: Sql): { next(): Promise<OrderId>; settle(): Promise<void> } {
  let last: number | undefined
  let counted = 0
  return {
    async next() {
      if (last === undefined) last = Number(await nextId(sql))
      else {
        last += 1
        counted += 1
      }
      return String(last) as OrderId
    },
    async settle() {
      if (counted > 0) await useUpIds(sql, counted)
      last = undefined
      counted = 0
    },
  }
}
