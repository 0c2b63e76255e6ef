import type { Address, ChainSlug, Hex, OrderId } from '@bezel/protocol'
import { listAttemptOrders, listAttemptsByCall, listAttemptsByHash, type StoredAttempt } from '../store/attemptStore.ts'
import { findOrderIdByHandle, listOrderEvents, type OrderHandle } from '../store/orderEventStore.ts'
import { findOrder, findOrderByOrigin, type StoredOrder } from '../store/orderStore.ts'
import { findPositionAttempt, type PositionAttempt } from '../store/positionAttemptStore.ts'
import {
  findPosition,
  findPositionByOrigin,
  findPositionByTrade,
  findPositionIdByHandle,
  readLastPositionPlace,
  type StoredPosition,
  type UpdateHandle,
} from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import type { AttemptId, OrderEvent, OrderRecord } from '../trading/orders/orderModel.ts'
import type { EventPlace } from '../trading/positions/foldPosition.ts'

/** A read that may have been made ahead. */
interface AheadRead<Key extends readonly (string | number)[], Value> {
  (...key: Key): Promise<Value>
  /** Changes what was read ahead, if it was: the caller has changed the same in the store. */
  change(key: Key, to: (before: Value) => Value): void
  /** Notes what the store has for a key, so that it is not read any more where reads were made ahead. */
  note(key: Key, value: Value): void
  /** Forgets what was read ahead. Left out: all of it. */
  forget(...key: Key | []): void
}

/**
 * The reads of the follower while it applies the events of a block. Each asks the store, unless it was made ahead:
 * on a store with round trips, everything that the events of a block are going to need is asked for together.
 */
export interface BlockReads {
  /** Makes all reads of `work` ahead, until `forget`. */
  ahead(work: () => Promise<unknown>): Promise<void>
  /** Forgets everything that was read ahead. */
  forget(): void
  readonly attemptsNamed: AheadRead<[id: AttemptId], readonly StoredAttempt[]>
  readonly attemptsByHash: AheadRead<[hash: Hex, trader: Address], readonly StoredAttempt[]>
  readonly attemptsByCall: AheadRead<[sender: Address, trader: Address, call: Hex], readonly StoredAttempt[]>
  readonly positionAttempt: AheadRead<[id: AttemptId, positionId: OrderId], PositionAttempt | undefined>
  readonly order: AheadRead<[id: OrderId], StoredOrder | undefined>
  readonly orderByOrigin: AheadRead<[originKey: string], StoredOrder | undefined>
  readonly orderIdByHandle: AheadRead<[trader: Address, handle: OrderHandle], OrderId | undefined>
  /** The events of an order, in no order. */
  readonly orderEvents: AheadRead<[id: OrderId], readonly OrderEvent[]>
  readonly position: AheadRead<[id: OrderId], StoredPosition | undefined>
  readonly positionByTrade: AheadRead<[trader: Address, tradeIndex: number], StoredPosition | undefined>
  readonly positionByOrigin: AheadRead<[originOrderId: OrderId], StoredPosition | undefined>
  readonly positionIdByHandle: AheadRead<[handle: UpdateHandle], OrderId | undefined>
  readonly lastPlace: AheadRead<[positionId: OrderId], EventPlace | undefined>
  /** Notes that an order was stored, which has no events and no position yet. */
  noteOrder(record: OrderRecord): void
  /** Notes that the events and the position of one order were moved to another. */
  noteMoved(): void
}

export function createBlockReads(sql: Sql, chain: ChainSlug): BlockReads {
  const phase: Phase = { isUnderWay: false, isMade: false }
  const all: { forget(): void }[] = []
  function aheadRead<Key extends readonly (string | number)[], Value>(
    ask: (...key: Key) => Promise<Value>,
  ): AheadRead<Key, Value> {
    const made = createAheadRead(ask, phase)
    all.push(made)
    return made
  }

  const reads: BlockReads = {
    async ahead(work) {
      phase.isUnderWay = phase.isMade = true
      try {
        await work()
      } finally {
        phase.isUnderWay = false
      }
    },
    forget() {
      phase.isMade = false
      for (const read of all) read.forget()
    },
    attemptsNamed: aheadRead((id) => listAttemptOrders(sql, id)),
    attemptsByHash: aheadRead((hash, trader) => listAttemptsByHash(sql, chain, hash, trader)),
    attemptsByCall: aheadRead((sender, trader, call) => listAttemptsByCall(sql, chain, { sender, trader, call })),
    positionAttempt: aheadRead((id, positionId) => findPositionAttempt(sql, id, positionId)),
    order: aheadRead((id) => findOrder(sql, id)),
    orderByOrigin: aheadRead((originKey) => findOrderByOrigin(sql, chain, originKey)),
    orderIdByHandle: aheadRead((trader, handle) => findOrderIdByHandle(sql, chain, trader, handle)),
    orderEvents: aheadRead((id) => listOrderEvents(sql, id)),
    position: aheadRead((id) => findPosition(sql, id)),
    positionByTrade: aheadRead((trader, tradeIndex) => findPositionByTrade(sql, chain, trader, tradeIndex)),
    positionByOrigin: aheadRead((originOrderId) => findPositionByOrigin(sql, originOrderId)),
    positionIdByHandle: aheadRead((handle) => findPositionIdByHandle(sql, chain, handle)),
    lastPlace: aheadRead((positionId) => readLastPositionPlace(sql, positionId)),
    noteOrder(record) {
      const stored = { record, state: undefined, spendDay: undefined }
      reads.order.note([record.id], stored)
      if (record.originKey !== null) reads.orderByOrigin.note([record.originKey], stored)
      reads.orderEvents.note([record.id], [])
      reads.positionByOrigin.note([record.id], undefined)
    },
    noteMoved() {
      const { order, orderByOrigin, orderIdByHandle, orderEvents, position, positionByTrade, positionByOrigin } = reads
      order.forget()
      orderByOrigin.forget()
      orderIdByHandle.forget()
      orderEvents.forget()
      position.forget()
      positionByTrade.forget()
      positionByOrigin.forget()
    },
  }
  return reads
}

/** The state of the reads that are made ahead. */
interface Phase {
  /** True while they are made. */
  isUnderWay: boolean
  /** True from then on until they are forgotten. */
  isMade: boolean
}

function createAheadRead<Key extends readonly (string | number)[], Value>(
  ask: (...key: Key) => Promise<Value>,
  phase: Phase,
): AheadRead<Key, Value> {
  const known = new Map<string, Promise<Value>>()
  const nameOf = (key: readonly (string | number)[]): string => key.join(' ')
  const read = (...key: Key): Promise<Value> => {
    if (!phase.isMade) return ask(...key)
    const name = nameOf(key)
    const found = known.get(name)
    if (found !== undefined) return found
    const asked = ask(...key)
    if (phase.isUnderWay) known.set(name, asked)
    return asked
  }
  return Object.assign(read, {
    change(key: Key, to: (before: Value) => Value) {
      const before = known.get(nameOf(key))
      if (before !== undefined) known.set(nameOf(key), before.then(to))
    },
    note(key: Key, value: Value) {
      if (phase.isMade) known.set(nameOf(key), Promise.resolve(value))
    },
    forget(...key: Key | []) {
      if (key.length === 0) known.clear()
      else known.delete(nameOf(key))
    },
  })
}
