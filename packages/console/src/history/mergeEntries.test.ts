import type { FillHistoryEntry, Order } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LIVE_ENTRIES, mergeEntries, mergeOrders } from './mergeEntries.ts'

/** Returns entries from a highest id down. */
const entries = (from: number, count: number): FillHistoryEntry[] =>
  Array.from({ length: count }, (_, place) => ({ id: from - place }) as FillHistoryEntry)

const idsOf = (of: readonly { readonly id: unknown }[] | null): unknown[] | undefined => of?.map(({ id }) => id)

describe('the history of fills', () => {
  it('is the live part where that is all there is', () => {
    assert.deepEqual(idsOf(mergeEntries(entries(3, 3), entries(2, 2))), [3, 2, 1])
    assert.deepEqual(mergeEntries([], entries(2, 2)), [])
  })

  it('goes on with what was read before', () => {
    const merged = mergeEntries(entries(100, LIVE_ENTRIES), entries(98, 98))
    assert.deepEqual(idsOf(merged), idsOf(entries(100, 100)))
  })

  it('drops what a reorganisation took back', () => {
    const live = entries(101, LIVE_ENTRIES + 1).filter(({ id }) => id !== 99)
    assert.equal(idsOf(mergeEntries(live, entries(100, 100)))?.includes(99), false)
  })

  it('is read again where there is a gap', () => {
    assert.equal(mergeEntries(entries(200, LIVE_ENTRIES), entries(100, 100)), null)
  })
})

describe('the history of orders', () => {
  const order = (id: string, updatedAt: number, status = 'open'): Order =>
    ({ id, createdAt: Number(id), updatedAt, status }) as Order

  it('has the newest state of each, newest first', () => {
    const merged = mergeOrders([order('5', 1), order('4', 1)], [order('6', 2), order('4', 2, 'filled')], false)
    assert.deepEqual(
      merged.map(({ id, status }) => [id, status]),
      [
        ['6', 'open'],
        ['5', 'open'],
        ['4', 'filled'],
      ],
    )
  })

  it('leaves those of pages that were not read until they are', () => {
    assert.deepEqual(idsOf(mergeOrders([order('5', 1)], [order('2', 1)], false)), ['5'])
    assert.deepEqual(idsOf(mergeOrders([order('5', 1)], [order('2', 1)], true)), ['5', '2'])
    assert.deepEqual(idsOf(mergeOrders([], [order('2', 1)], true)), ['2'])
  })
})
