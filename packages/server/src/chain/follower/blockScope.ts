import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { ChainMarkets } from '../../market/chainMarkets.ts'
import { refoldOrder, type OrderChange } from '../../orders/refoldOrder.ts'
import { refoldPosition, type PositionChange } from '../../positions/refoldPosition.ts'
import type { FollowedBlock } from '../../store/blockStore.ts'
import { nextId } from '../../store/idStore.ts'
import { insertOrderEvent, type OrderHandle } from '../../store/orderEventStore.ts'
import {
  findPosition,
  findPositionByOrigin,
  findPositionByTrade,
  insertPosition,
  insertPositionEvent,
} from '../../store/positionStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { FoldClock, OrderEvent } from '../../trading/orders/orderModel.ts'
import type { PositionEvent, PositionState } from '../../trading/positions/positionModel.ts'

/** What applying a block works with: the transaction of the store, and what was touched in it. */
export interface BlockScope {
  readonly sql: Sql
  readonly chain: ChainSlug
  readonly block: FollowedBlock
  readonly markets: ChainMarkets
  addOrderEvent(of: {
    readonly trader: Address
    readonly orderId: OrderId
    readonly handle: OrderHandle | null
    readonly event: OrderEvent
  }): Promise<void>
  addPositionEvent(positionId: OrderId, event: PositionEvent): Promise<void>
  /** An order to be folded again though no event was added to it. */
  touchOrder(id: OrderId): void
  /** The position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  openPosition(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** `undefined`: no position with this trade index is known. */
  positionOf(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  /** As of the last event that was added. */
  stateOf(positionId: OrderId): Promise<PositionState | undefined>
  /** Folds everything that was touched, each once. */
  settle(clock: FoldClock): Promise<{ readonly orders: OrderChange[]; readonly positions: PositionChange[] }>
}

export function createBlockScope(of: Pick<BlockScope, 'sql' | 'chain' | 'block' | 'markets'>): BlockScope {
  const { sql, chain } = of
  const orders = new Set<OrderId>()
  const positions = new Set<OrderId>()
  const positionIds = new Map<string, OrderId | undefined>()
  const positionChanges = new Map<OrderId, PositionChange>()

  /** A position may be folded more than once in a block, when its state is asked for in between; its change is one. */
  async function foldPosition(id: OrderId): Promise<void> {
    const change = await refoldPosition(sql, id)
    positions.delete(id)
    if (change === undefined) return
    positionChanges.set(id, { ...change, before: (positionChanges.get(id) ?? change).before })
  }

  return {
    ...of,
    async addOrderEvent(added) {
      await insertOrderEvent(sql, { chain, ...added })
      orders.add(added.orderId)
    },
    async addPositionEvent(positionId, event) {
      await insertPositionEvent(sql, { chain, positionId, event })
      positions.add(positionId)
    },
    touchOrder: (id) => void orders.add(id),
    async openPosition(trader, tradeIndex, originOrderId) {
      const known = await findPositionByOrigin(sql, originOrderId)
      const id = known?.record.id ?? (await nextId(sql))
      if (known === undefined) await insertPosition(sql, { id, chain, trader, originOrderId })
      positionIds.set(`${trader}:${tradeIndex}`, id)
      return id
    },
    async positionOf(trader, tradeIndex) {
      const key = `${trader}:${tradeIndex}`
      if (!positionIds.has(key)) {
        positionIds.set(key, (await findPositionByTrade(sql, chain, trader, tradeIndex))?.record.id)
      }
      return positionIds.get(key)
    },
    async stateOf(positionId) {
      if (positions.has(positionId)) await foldPosition(positionId)
      return (await findPosition(sql, positionId))?.state
    },
    async settle(clock) {
      for (const id of positions) await foldPosition(id)
      const orderChanges: OrderChange[] = []
      for (const id of orders) {
        const change = await refoldOrder(sql, id, clock)
        if (change !== undefined) orderChanges.push(change)
      }
      return { orders: orderChanges, positions: [...positionChanges.values()] }
    },
  }
}
