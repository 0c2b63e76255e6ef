import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import { keepPosition, type PositionChange } from '../../positions/refoldPosition.ts'
import {
  findPosition,
  findPositionByOrigin,
  findPositionByTrade,
  insertPosition,
  insertPositionEvent,
  positionEventsOf,
  type StoredPosition,
} from '../../store/positionStore.ts'
import type { Sql } from '../../store/sql.ts'
import { foldPosition } from '../../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionState } from '../../trading/positions/positionModel.ts'

/** The positions that a transaction of the follower touches. Events are written at once, states when it settles. */
export interface TouchedPositions {
  /** The position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  open(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** `undefined`: no position with this trade index is known. */
  idOf(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  addEvent(id: OrderId, event: PositionEvent): Promise<void>
  /** As of the last event that was added. */
  stateOf(id: OrderId): Promise<PositionState | undefined>
  /** The position of one order is now another's. */
  moved(from: OrderId, to: OrderId): void
  /** Keeps the states that changed. */
  settle(): Promise<PositionChange[]>
}

interface Touched {
  stored: StoredPosition
  /** Read when the first one is added. */
  events: PositionEvent[] | undefined
  /** `undefined`: to be folded again. */
  folded: { readonly state: PositionState | undefined } | undefined
}

export function createTouchedPositions(of: {
  readonly sql: Sql
  readonly chain: ChainSlug
  readonly nextId: () => Promise<OrderId>
}): TouchedPositions {
  const { sql, chain } = of
  const ids = new Map<string, OrderId | undefined>()
  const touched = new Map<OrderId, Touched>()

  function remember(stored: StoredPosition, events?: PositionEvent[]): Touched {
    const position: Touched = { stored, events, folded: { state: stored.state } }
    touched.set(stored.record.id, position)
    return position
  }

  async function load(id: OrderId): Promise<Touched> {
    const known = touched.get(id)
    if (known !== undefined) return known
    const stored = await findPosition(sql, id)
    if (stored === undefined) throw new Error(`position ${id} is not in the store`)
    return remember(stored)
  }

  return {
    async open(trader, tradeIndex, originOrderId) {
      const known = await findPositionByOrigin(sql, originOrderId)
      const id = known?.record.id ?? (await of.nextId())
      if (known === undefined) {
        const record = { id, chain, trader, originOrderId }
        await insertPosition(sql, record)
        remember({ record, state: undefined }, [])
      }
      ids.set(`${trader}:${tradeIndex}`, id)
      return id
    },
    async idOf(trader, tradeIndex) {
      const key = `${trader}:${tradeIndex}`
      if (!ids.has(key)) {
        const stored = await findPositionByTrade(sql, chain, trader, tradeIndex)
        if (stored !== undefined && !touched.has(stored.record.id)) remember(stored)
        ids.set(key, stored?.record.id)
      }
      return ids.get(key)
    },
    async addEvent(id, event) {
      const position = await load(id)
      position.events ??= await positionEventsOf(sql, id)
      await insertPositionEvent(sql, { chain, positionId: id, event })
      position.events.push(event)
      position.folded = undefined
    },
    stateOf: async (id) => stateNow(await load(id)),
    moved(from, to) {
      for (const position of touched.values()) {
        const { record } = position.stored
        if (record.originOrderId !== from) continue
        position.stored = { ...position.stored, record: { ...record, originOrderId: to } }
      }
    },
    async settle() {
      const changes: PositionChange[] = []
      for (const position of touched.values()) {
        if (position.events === undefined) continue
        const change = await keepPosition(sql, position.stored, stateNow(position))
        if (change !== undefined) changes.push(change)
      }
      return changes
    },
  }
}

function stateNow(position: Touched): PositionState | undefined {
  position.folded ??= { state: foldPosition(position.events ?? []) }
  return position.folded.state
}
