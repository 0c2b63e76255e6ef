import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import { keepPosition } from '../journal/refoldPosition.ts'
import {
  findPosition,
  findPositionByOrigin,
  findPositionByTrade,
  insertPosition,
  insertPositionEvent,
  lastPositionPlace,
  positionEventsOf,
  type StoredPosition,
} from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import { comparePlaces, foldForward, foldPosition, type EventPlace } from '../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionState } from '../trading/positions/positionModel.ts'

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
  settle(): Promise<void>
}

interface Touched {
  stored: StoredPosition
  /** Of its events; `null` when it has none. Read when the first one is added. */
  lastPlace: EventPlace | null | undefined
  /** `undefined`: to be folded again from everything that was said of it. */
  folded: { readonly state: PositionState | undefined } | undefined
}

export function createTouchedPositions(of: {
  readonly sql: Sql
  readonly chain: ChainSlug
  readonly journal: Pick<Journal, 'position'>
  readonly nextId: () => Promise<OrderId>
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
    position.folded ??= { state: foldPosition(await positionEventsOf(sql, position.stored.record.id)) }
    return position.folded.state
  }

  return {
    async open(trader, tradeIndex, originOrderId) {
      const known = await findPositionByOrigin(sql, originOrderId)
      const id = known?.record.id ?? (await of.nextId())
      if (known === undefined) {
        const record = { id, chain, trader, originOrderId }
        await insertPosition(sql, record)
        remember({ record, state: undefined }, null)
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
      if (position.lastPlace === undefined) position.lastPlace = (await lastPositionPlace(sql, id)) ?? null
      await insertPositionEvent(sql, { chain, positionId: id, event })
      addTo(position, event)
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
      for (const position of touched.values()) {
        if (position.lastPlace === undefined) continue
        await keepPosition(sql, position.stored, await stateNow(position), journal)
      }
    },
  }
}

/**
 * The work that an event takes must not grow with a position's history, which anybody can make long: what comes after everything else is folded
 * onto the state that is there. Only what comes out of turn, or before there is a position, is folded anew.
 */
function addTo(position: Touched, event: PositionEvent): void {
  const { folded, lastPlace } = position
  const isLast = !lastPlace || comparePlaces(event, lastPlace) > 0
  if (isLast) position.lastPlace = event
  if (lastPlace === null) position.folded = { state: foldPosition([event]) }
  else if (isLast && folded?.state !== undefined) position.folded = { state: foldForward(folded.state, event) }
  else position.folded = undefined
}
