import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import { keepPosition } from '../journal/refold.ts'
import {
  findPosition,
  findPositionByOrigin,
  findPositionByTrade,
  insertPosition,
  insertPositionEvent,
  readLastPositionPlace,
  listPositionEvents,
  type StoredPosition,
} from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import { comparePlaces, foldForward, foldPosition, type EventPlace } from '../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionState } from '../trading/positions/positionModel.ts'

/** The positions that a transaction of the follower touches. Events are written at once, states in `settle`. */
interface TouchedPositions {
  /** Returns the position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  open(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** Finds a position by its trade index; `undefined` when none is known. */
  findId(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  addEvent(id: OrderId, event: PositionEvent): Promise<void>
  /** Returns the state as of the last added event; `undefined` when no event has opened the position. */
  readPositionState(id: OrderId): Promise<PositionState | undefined>
  /** Called after the position of order `from` was moved to order `to` in the store. */
  moved(from: OrderId, to: OrderId): void
  /** Stores the states that changed. */
  settle(): Promise<void>
}

interface Touched {
  stored: StoredPosition
  /** Place of the position's last event; `null` when it has none, `undefined` until an event is added. */
  lastPlace: EventPlace | null | undefined
  /** The folded state; `undefined` when it has to be folded again from all events. */
  folded: { readonly state: PositionState | undefined } | undefined
}

export function createTouchedPositions(of: {
  readonly sql: Sql
  readonly chain: ChainSlug
  readonly journal: Pick<Journal, 'position'>
  readonly takeId: () => Promise<OrderId>
}): TouchedPositions {
  const { sql, chain, journal } = of
  const ids = new Map<string, OrderId | undefined>()
  const touched = new Map<OrderId, Touched>()

  function remember(stored: StoredPosition, lastPlace?: null): Touched {
    const position: Touched = { stored, lastPlace, folded: { state: stored.state } }
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

  async function stateNow(position: Touched): Promise<PositionState | undefined> {
    position.folded ??= { state: foldPosition(await listPositionEvents(sql, position.stored.record.id)) }
    return position.folded.state
  }

  return {
    async open(trader, tradeIndex, originOrderId) {
      const known = await findPositionByOrigin(sql, originOrderId)
      const id = known?.record.id ?? (await of.takeId())
      if (known === undefined) {
        const record = { id, chain, trader, originOrderId }
        await insertPosition(sql, record)
        remember({ record, state: undefined }, null)
      }
      ids.set(`${trader}:${tradeIndex}`, id)
      return id
    },
    async findId(trader, tradeIndex) {
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
      if (position.lastPlace === undefined) position.lastPlace = (await readLastPositionPlace(sql, id)) ?? null
      await insertPositionEvent(sql, { chain, positionId: id, event })
      addTo(position, event)
    },
    readPositionState: async (id) => stateNow(await load(id)),
    moved(from, to) {
      for (const position of touched.values()) {
        const { record } = position.stored
        if (record.originOrderId !== from) continue
        position.stored = { ...position.stored, record: { ...record, originOrderId: to } }
      }
    },
    async settle() {
      for (const position of touched.values()) {
        if (position.lastPlace === undefined) continue
        await keepPosition(sql, position.stored, await stateNow(position), journal)
      }
    },
  }
}

/**
 * Adds an event to the cached state. The work per event must not grow with a position's history, which anybody can make
 * long, so an event after all others is folded onto the existing state. Only an event out of order, or before the
 * position is open, causes a complete fold.
 */
function addTo(position: Touched, event: PositionEvent): void {
  const { folded, lastPlace } = position
  const isLast = !lastPlace || comparePlaces(event, lastPlace) > 0
  if (isLast) position.lastPlace = event
  if (lastPlace === null) position.folded = { state: foldPosition([event]) }
  else if (isLast && folded?.state !== undefined) position.folded = { state: foldForward(folded.state, event) }
  else position.folded = undefined
}
