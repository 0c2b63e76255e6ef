import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { FeedUnavailableError } from './feed/pages.ts'
import { createReferencePrices } from './referencePrices.ts'

const dollars = (amount: bigint): Price => Price.of(amount * Price.one)

describe('createReferencePrices', () => {
  let test: TestStore
  let marks: Map<number, Price>
  let isFilled: boolean

  beforeEach(async () => {
    test = openTestStore()
    await migrate(test.store)
    isFilled = true
    marks = new Map([
      [0, dollars(65_000n)],
      [1, dollars(2_500n)],
    ])
  })
  afterEach(() => test.remove())

  function create() {
    return createReferencePrices({
      store: test.store,
      book: { get: (pairIndex) => (marks.has(pairIndex) ? ({ mark: marks.get(pairIndex)! } as never) : undefined) },
      isFilled: () => isFilled,
    })
  }

  it('is the first price of a pair, kept for ever, whatever the price does, also across a restart', async () => {
    const first = new Map(marks)
    assert.deepEqual(await create()('base').of([0, 1]), first)
    await test.reopen()
    marks = new Map([[0, dollars(9n)]])
    const again = create()
    assert.deepEqual(await again('base').of([0, 1]), first)
    assert.deepEqual(await again('polygon').of([0]), marks, 'of each chain its own')
  })

  it('leaves out a pair without a price, and has it as soon as it gets one', async () => {
    const prices = create()('base')
    assert.deepEqual(await prices.of([0, 7]), new Map([[0, dollars(65_000n)]]))
    marks.set(7, dollars(3n))
    assert.equal((await prices.of([0, 7])).get(7), dollars(3n))
  })

  it('waits for the first page of the feed, unless it needs nothing from there', async () => {
    isFilled = false
    const prices = create()('base')
    await assert.rejects(prices.of([0]), FeedUnavailableError)
    isFilled = true
    await prices.of([0])
    isFilled = false
    assert.equal((await create()('base').of([0])).get(0), dollars(65_000n))
  })

  it('goes on with what is stored after a restart beside a feed without pages, and without pairs that are new', async () => {
    await create()('base').of([0])
    isFilled = false
    const prices = create()('base')
    assert.deepEqual(await prices.of([0, 1]), new Map([[0, dollars(65_000n)]]))
    isFilled = true
    assert.equal((await prices.of([0, 1])).get(1), dollars(2_500n))
  })
})
