import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { foldNewOrder, foldStoredOrder, readStoredOrder } from '../journal/refold.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { createIdsInTransaction } from '../store/ids.ts'
import { insertOrder } from '../store/orderStore.ts'
import { insertOrderEvent, type OrderHandle } from '../store/orderEventStore.ts'
import type { UpdateHandle } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock, OrderEvent, OrderRecord } from '../trading/orders/orderModel.ts'
import type { PositionEvent, PositionState } from '../trading/positions/positionModel.ts'
import type { RenewedParams } from './readRenewedParams.ts'
import { createBlockReads, type BlockReads } from './blockReads.ts'
import { createTouchedPositions } from './touchedPositions.ts'

/**
 * Working state while blocks are applied: the store's transaction, and the orders and positions touched in it. Writes
 * go to the store at once, but nothing read or written is read again, because consecutive blocks mostly concern the
 * same orders and positions.
 */
export interface BlockScope {
  readonly sql: Sql
  readonly reads: BlockReads
  readonly chain: ChainSlug
  /** The block that is being applied. */
  readonly block: FollowedBlock
  readonly markets: ChainMarkets
  /** Liquidation parameters after the size increases in the blocks that are applied. */
  readonly renewed: RenewedParams
  readonly journal: Journal
  enter(block: FollowedBlock): void
  /** Takes ids ahead, for a store with round trips. */
  expectIds(count: number): Promise<void>
  takeId(): Promise<OrderId>
  /** Returns the id of the fill of a log: the one that it had, when an old block is applied again, else a new one. */
  takeFillId(logIndex: number): Promise<OrderId>
  /** Stores an order that was found on the chain. */
  addOrder(record: OrderRecord): Promise<void>
  addOrderEvent(of: {
    readonly trader: Address
    readonly orderId: OrderId
    readonly handle: OrderHandle | null
    readonly event: OrderEvent
  }): Promise<void>
  /** Finds an order by its handle on the chain; `undefined` when there is none. */
  findOrderByHandle(trader: Address, handle: OrderHandle): Promise<OrderId | undefined>
  /** Adds an event of a position. `handle` names the pending change that it begins. */
  addPositionEvent(positionId: OrderId, event: PositionEvent, handle?: UpdateHandle): Promise<void>
  /** Finds the position whose pending change has this handle; `undefined` when there is none. */
  findPositionByHandle(handle: UpdateHandle): Promise<OrderId | undefined>
  /** Marks an order to be folded again although no event was added to it. */
  touchOrder(id: OrderId): void
  /** Does the same for a position. */
  touchPosition(id: OrderId): Promise<void>
  /**
   * Called after the events and the position of order `from` were moved to order `to` in the store; drops what is
   * cached of both.
   */
  moved(from: OrderId, to: OrderId): void
  /** Returns the position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  openPosition(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** Finds a position by its trade index; `undefined` when none is known. */
  findPosition(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  /** Returns the state as of the last added event; `undefined` when no event has opened the position. */
  readPositionState(positionId: OrderId): Promise<PositionState | undefined>
  /** Folds every touched order and position once and stores the results. */
  settle(clock: FoldClock): Promise<void>
}

/** An order that was created in this database transaction, with all its events. */
interface NewOrder {
  readonly record: OrderRecord
  readonly events: OrderEvent[]
}

/** An old block that is applied again. */
interface OldBlock {
  /** Ids that its fills had, by log index. */
  readonly fillIds: ReadonlyMap<number, OrderId>
}

export function createBlockScope(
  of: Pick<BlockScope, 'sql' | 'chain' | 'block' | 'markets' | 'renewed' | 'journal'>,
  old?: OldBlock,
): BlockScope {
  const { sql, chain, journal } = of
  const orders = new Set<OrderId>()
  const newOrders = new Map<OrderId, NewOrder>()
  const handles = new Map<string, OrderId>()
  const ids = createIdsInTransaction(sql)
  const reads = createBlockReads(sql, chain)
  const takeId = async (): Promise<OrderId> => String(await ids.next()) as OrderId
  let block = of.block
  const asOf = old === undefined ? undefined : () => block.number
  const positions = createTouchedPositions({ sql, reads, chain, journal, takeId, asOf })

  return {
    ...of,
    get block() {
      return block
    },
    reads,
    enter(next) {
      block = next
    },
    expectIds: (count) => ids.expect(count),
    takeId,
    takeFillId: async (logIndex) => old?.fillIds.get(logIndex) ?? (await takeId()),
    async addOrder(record) {
      await insertOrder(sql, record)
      newOrders.set(record.id, { record, events: [] })
      reads.noteOrder(record)
    },
    async addOrderEvent(added) {
      const { trader, orderId, handle, event } = added
      await insertOrderEvent(sql, { chain, ...added })
      newOrders.get(orderId)?.events.push(event)
      reads.orderEvents.change([orderId], (before) => [...before, event])
      if (handle !== null) handles.set(`${trader} ${handle}`, orderId)
      orders.add(orderId)
    },
    findOrderByHandle: async (trader, handle) =>
      handles.get(`${trader} ${handle}`) ?? (await reads.orderIdByHandle(trader, handle)),
    addPositionEvent: positions.addEvent,
    findPositionByHandle: positions.findByHandle,
    touchOrder: (id) => void orders.add(id),
    touchPosition: positions.touch,
    moved(from, to) {
      for (const id of [from, to]) {
        newOrders.delete(id)
        orders.add(id)
      }
      handles.clear()
      reads.noteMoved()
      positions.moved(from, to)
    },
    openPosition: positions.open,
    findPosition: positions.findId,
    readPositionState: positions.readPositionState,
    async settle(clock) {
      await positions.settle(clock)
      await foldTouched({ sql, journal, orders, newOrders }, clock)
      await ids.settle()
    },
  }
}

/** Folds the touched orders, in the order in which they were touched; those that are stored are read together. */
async function foldTouched(
  of: Pick<BlockScope, 'sql' | 'journal'> & {
    readonly orders: ReadonlySet<OrderId>
    readonly newOrders: ReadonlyMap<OrderId, NewOrder>
  },
  clock: FoldClock,
): Promise<void> {
  const { sql, journal, orders, newOrders } = of
  const known = [...orders].filter((id) => !newOrders.has(id))
  const wholes = await Promise.all(known.map((id) => readStoredOrder(sql, id)))
  const stored = new Map(wholes.map((whole) => [whole.stored.record.id, whole]))
  for (const id of orders) {
    const made = newOrders.get(id)
    if (made === undefined) await foldStoredOrder(sql, stored.get(id)!, clock, journal)
    else await foldNewOrder(sql, { ...made, attempts: [] }, clock, journal)
  }
}
