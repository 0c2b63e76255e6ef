import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import { keepPosition } from '../journal/refold.ts'
import type { BlockReads } from './blockReads.ts'
import {
  insertPosition,
  insertPositionEvent,
  movePosition,
  listPositionEvents,
  type StoredPosition,
  type UpdateHandle,
} from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import { foundTradeKey, type FoldClock } from '../trading/orders/orderModel.ts'
import { comparePlaces, foldForward, foldPosition, type EventPlace } from '../trading/positions/foldPosition.ts'
import type { PositionEvent, PositionState } from '../trading/positions/positionModel.ts'

/** The positions that a transaction of the follower touches. Events are written at once, states in `settle`. */
interface TouchedPositions {
  /** Returns the position that an order opens as this trade: the one it had before a reorganisation, else a new one. */
  open(trader: Address, tradeIndex: number, originOrderId: OrderId): Promise<OrderId>
  /** Finds a position by its trade index; `undefined` when none is known. */
  findId(trader: Address, tradeIndex: number): Promise<OrderId | undefined>
  /** Adds an event. `handle` names the pending change that it begins. */
  addEvent(id: OrderId, event: PositionEvent, handle?: UpdateHandle): Promise<void>
  /** Finds the position whose change has this handle; `undefined` when none is known. */
  findByHandle(handle: UpdateHandle): Promise<OrderId | undefined>
  /** Marks a position to be folded again although no event was added to it. */
  touch(id: OrderId): Promise<void>
  /** Returns the state as of the last added event; `undefined` when no event has opened the position. */
  readPositionState(id: OrderId): Promise<PositionState | undefined>
  /** Called after the position of order `from` was moved to order `to` in the store. */
  moved(from: OrderId, to: OrderId): void
  /** Stores the states that changed. */
  settle(clock: FoldClock): Promise<void>
}

interface Touched {
  stored: StoredPosition
  /** Place of the position's last event; `null` when it has none, `undefined` until an event is added. */
  lastPlace: EventPlace | null | undefined
  /** All its events, in the order in which they were added, of a position that is new; else `undefined`. */
  readonly events: PositionEvent[] | undefined
  /** True when its state is to be stored again: an event was added, or time has passed. */
  isDue: boolean
  /** The folded state; `undefined` when it has to be folded again from all events. */
  folded: { readonly state: PositionState | undefined } | undefined
}

interface TouchedOptions {
  readonly sql: Sql
  readonly reads: BlockReads
  readonly chain: ChainSlug
  readonly journal: Pick<Journal, 'position'>
  readonly takeId: () => Promise<OrderId>
  /**
   * Returns the block as of which states are read, while an old block is applied again: later events are known already.
   * Left out: the blocks are the newest ones.
   */
  readonly asOf?: (() => number) | undefined
}

export function createTouchedPositions(of: TouchedOptions): TouchedPositions {
  const { sql, reads, chain, journal, asOf } = of
  const ids = new Map<string, OrderId | undefined>()
  const touched = new Map<OrderId, Touched>()
  const handles = new Map<UpdateHandle, OrderId>()

  function remember(stored: StoredPosition, lastPlace?: null): Touched {
    const folded = asOf === undefined ? { state: stored.state } : undefined
    const position: Touched = { stored, lastPlace, events: lastPlace === null ? [] : undefined, isDue: false, folded }
    touched.set(stored.record.id, position)
    return position
  }

  async function load(id: OrderId): Promise<Touched> {
    const known = touched.get(id)
    if (known !== undefined) return known
    const stored = await reads.position(id)
    if (stored === undefined) throw new Error(`position ${id} is not in the store`)
    return remember(stored)
  }

  async function stateNow(position: Touched): Promise<PositionState | undefined> {
    if (asOf !== undefined) return foldPosition(await listEventsUntil(sql, position, asOf()))
    position.folded ??= { state: foldPosition(await listEventsUntil(sql, position)) }
    return position.folded.state
  }

  return {
    async open(trader, tradeIndex, originOrderId) {
      const known =
        (await reads.positionByOrigin(originOrderId)) ?? (await takeFound(of, { trader, tradeIndex, originOrderId }))
      const id = known?.record.id ?? (await of.takeId())
      if (known === undefined) {
        const made = { record: { id, chain, trader, originOrderId }, state: undefined }
        await insertPosition(sql, made.record)
        remember(made, null)
        reads.positionByOrigin.note([originOrderId], made)
      }
      ids.set(`${trader}:${tradeIndex}`, id)
      return id
    },
    async findId(trader, tradeIndex) {
      const key = `${trader}:${tradeIndex}`
      if (!ids.has(key)) {
        const stored = await reads.positionByTrade(trader, tradeIndex)
        if (stored !== undefined && !touched.has(stored.record.id)) remember(stored)
        ids.set(key, stored?.record.id)
      }
      return ids.get(key)
    },
    async addEvent(id, event, handle) {
      const position = await load(id)
      if (position.lastPlace === undefined) position.lastPlace = (await reads.lastPlace(id)) ?? null
      await insertPositionEvent(sql, { chain, positionId: id, event, handle })
      if (handle !== undefined) handles.set(handle, id)
      position.isDue = true
      addTo(position, event)
    },
    findByHandle: async (handle) => handles.get(handle) ?? (await reads.positionIdByHandle(handle)),
    async touch(id) {
      const position = await load(id)
      position.isDue = true
    },
    readPositionState: async (id) => stateNow(await load(id)),
    moved: (from, to) => moveOrigins(touched.values(), from, to),
    async settle(clock) {
      for (const position of touched.values()) {
        if (!position.isDue) continue
        const state = asOf === undefined ? await stateNow(position) : foldPosition(await listEventsUntil(sql, position))
        await keepPosition(sql, position.stored, state, clock, journal)
      }
    },
  }
}

/**
 * Finds the position that a snapshot found as this trade, before a reorganisation undid the snapshot. It belongs to the
 * order that opens the trade now.
 */
async function takeFound(
  { sql, reads }: Pick<TouchedOptions, 'sql' | 'reads'>,
  of: { readonly trader: Address; readonly tradeIndex: number; readonly originOrderId: OrderId },
): Promise<StoredPosition | undefined> {
  const found = await reads.orderByOrigin(foundTradeKey(of.trader, of.tradeIndex))
  if (found === undefined || found.record.id === of.originOrderId) return undefined
  await movePosition(sql, found.record.id, of.originOrderId)
  for (const read of [reads.position, reads.positionByTrade, reads.positionByOrigin]) read.forget()
  return reads.positionByOrigin(of.originOrderId)
}

/** Lists the events of a position up to a block. Left out: all. */
async function listEventsUntil(
  sql: Sql,
  { stored, events: added }: Touched,
  lastBlock = Number.MAX_SAFE_INTEGER,
): Promise<PositionEvent[]> {
  // The store has the same, but the first events of a position mostly come together.
  const events = added?.toSorted(comparePlaces) ?? (await listPositionEvents(sql, stored.record.id))
  return events.filter(({ blockNumber }) => blockNumber <= lastBlock)
}

/** Notes in the cached records that the position of order `from` belongs to order `to` now. */
function moveOrigins(positions: Iterable<Touched>, from: OrderId, to: OrderId): void {
  for (const position of positions) {
    const { record } = position.stored
    if (record.originOrderId !== from) continue
    position.stored = { ...position.stored, record: { ...record, originOrderId: to } }
  }
}

/**
 * Adds an event to the cached state. The work per event must not grow with a position's history, which anybody can make
 * long, so an event after all others is folded onto the existing state. Only an event out of order, or before the
 * position is open, causes a complete fold.
 */
function addTo(position: Touched, event: PositionEvent): void {
  const { folded, lastPlace, events } = position
  events?.push(event)
  const isLast = !lastPlace || comparePlaces(event, lastPlace) > 0
  if (isLast) position.lastPlace = event
  if (lastPlace === null) position.folded = { state: foldPosition([event]) }
  else if (isLast && folded?.state !== undefined) position.folded = { state: foldForward(folded.state, event) }
  else position.folded = undefined
}
