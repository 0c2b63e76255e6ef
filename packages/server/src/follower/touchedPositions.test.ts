import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Price, type OrderId } from '@bezel/protocol'
import fc from 'fast-check'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { refoldPosition } from '../journal/refold.ts'
import { insertOrder } from '../store/orderStore.ts'
import { migrate } from '../store/openStore.ts'
import { deletePositionEvents, findPosition, listPositionEvents } from '../store/positionStore.ts'
import { textOf, type Sql } from '../store/sql.ts'
import { openTestStore } from '../store/testing/testStore.ts'
import { foldPosition } from '../trading/positions/foldPosition.ts'
import type { PositionEvent } from '../trading/positions/positionModel.ts'
import { openedBody } from './applyPosition.ts'
import { ALICE, CHAIN, orderRecord, stored, txHash } from './testing/handMade.ts'
import { createBlockReads } from './blockReads.ts'
import { createTouchedPositions } from './touchedPositions.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const ORDER = '1' as OrderId
const POSITION = '2' as OrderId
const CLOCK = { nowMs: 0, headBlock: 0, headMs: 0, timeoutBlocks: 200 }

/** Returns an event at a place: log `place % 10` of block `place / 10`, each block with its own hash. */
function at(place: number, body: Partial<PositionEvent>): PositionEvent {
  const blockNumber = Math.floor(place / 10)
  const blockHash = txHash(String(blockNumber).padStart(2, '0'))
  return { blockNumber, blockHash, logIndex: place % 10, txHash: txHash('ee'), timestampMs: place, ...body } as never
}
const opened = (place: number) => at(place, openedBody(stored()))
const sl = (place: number) => at(place, { kind: 'slUpdated', sl: Price.of(BigInt(place)) })

/** Counts how often all events of a position are read. */
function counting(sql: Sql, counts: { reads: number }): Sql {
  return {
    ...sql,
    all: (read, ...params) => {
      if (textOf(read).includes('from position_events')) counts.reads += 1
      return sql.all(read, ...params)
    },
  }
}

async function openPositions() {
  const { store, remove } = openTestStore()
  await migrate(store)
  await store.transaction(TEST_SCOPE, (sql) => insertOrder(sql, orderRecord(Number(ORDER))))
  const counts = { reads: 0 }
  return {
    store,
    remove,
    counts,
    /** Adds the events, in the given order, in one transaction of the follower. */
    async touch(...events: readonly PositionEvent[]) {
      let run = { reads: 0 }
      await store.transaction(TEST_SCOPE, async (sql) => {
        // A transaction may run more than once; the last run is kept.
        run = { reads: 0 }
        const takeId = async () => POSITION
        const counted = counting(sql, run)
        const positions = createTouchedPositions({
          sql: counted,
          reads: createBlockReads(counted, CHAIN),
          chain: CHAIN,
          journal: NO_JOURNAL,
          takeId,
        })
        for (const event of events) await positions.addEvent(await positions.open(ALICE, 0, ORDER), event)
        return positions.settle(CLOCK)
      })
      counts.reads += run.reads
    },
    async expectFolded() {
      const { state } = (await findPosition(store.read, POSITION))!
      assert.deepEqual(state, foldPosition(await listPositionEvents(store.read, POSITION)))
      return state
    },
  }
}

describe('what a block says of a position', () => {
  it('is folded onto the state that is there, without reading what was said before', async () => {
    const world = await openPositions()
    await world.touch(opened(10), sl(12))
    for (let block = 2; block < 6; block += 1) await world.touch(sl(block * 10), sl(block * 10 + 1))
    assert.equal(world.counts.reads, 0)
    assert.equal((await world.expectFolded())?.trade.sl, 51n)
    await world.remove()
  })

  it('is folded with everything else when it comes out of turn, or before there is a position', async () => {
    const world = await openPositions()
    await world.touch(sl(10), opened(11), sl(12))
    assert.equal((await world.expectFolded())?.trade.sl, 12n)
    // All events of a new position are at hand.
    assert.equal(world.counts.reads, 0)
    await world.touch(sl(24), sl(22), sl(23))
    assert.equal((await world.expectFolded())?.trade.sl, 24n)
    await world.touch(sl(21))
    assert.equal((await world.expectFolded())?.trade.sl, 24n)
    assert.equal(world.counts.reads, 2)
    await world.remove()
  })

  it('is forgotten with its block', async () => {
    const world = await openPositions()
    await world.touch(opened(10), sl(12))
    await world.touch(sl(20))
    await world.store.transaction(TEST_SCOPE, async (sql) => {
      for (const id of await deletePositionEvents(sql, CHAIN, sl(20).blockHash))
        await refoldPosition(sql, id, CLOCK, NO_JOURNAL)
    })
    assert.equal((await world.expectFolded())?.trade.sl, 12n)
    await world.touch(at(21, { kind: 'tpUpdated', tp: Price.of(5n) }))
    const state = await world.expectFolded()
    assert.deepEqual([state?.trade.sl, state?.trade.tp], [12n, 5n])
    await world.remove()
  })

  it('comes to the same in whatever portions and order it is told', async () => {
    const places = fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 12 })
    const histories = fc.tuple(places, fc.boolean(), fc.nat(11), fc.nat(4))
    await fc.assert(
      fc.asyncProperty(histories, async ([told, isInOrder, openedAt, portion]) => {
        const world = await openPositions()
        const sorted = isInOrder ? told.toSorted((a, b) => a - b) : told
        const events = sorted.map((place, n) => (n === openedAt % told.length ? opened(place) : sl(place)))
        for (let n = 0; n < events.length; n += portion + 1) await world.touch(...events.slice(n, n + portion + 1))
        await world.expectFolded()
        await world.remove()
      }),
      { numRuns: 40 },
    )
  })
})
