import { Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { FeedUnavailableError, type FeedCandleRange } from './feed/pages.ts'
import { createReferencePrices } from './referencePrices.ts'

const dollars = (amount: bigint): Price => Price.of(amount * Price.one)
const WEEK_S = 7 * 86_400

describe('createReferencePrices', () => {
  let test: TestStore
  let asked: [number, FeedCandleRange][]
  let closes: Map<number, Price | 'away'>
  let marks: Map<number, Price>

  beforeEach(async () => {
    test = openTestStore()
    await migrate(test.store)
    asked = []
    closes = new Map([
      [0, dollars(65_000n)],
      [1, dollars(2_500n)],
    ])
    marks = new Map()
  })
  afterEach(() => test.remove())

  function create() {
    return createReferencePrices({
      store: test.store,
      pages: {
        async firstClose(pairIndex, range) {
          asked.push([pairIndex, range])
          const close = closes.get(pairIndex)
          if (close === 'away') throw new FeedUnavailableError('away')
          return close
        },
      },
      book: { get: (pairIndex) => (marks.has(pairIndex) ? ({ mark: marks.get(pairIndex)! } as never) : undefined) },
      now: () => 10 * WEEK_S * 1_000,
    })
  }

  it('asks for a week of hours, once for all chains', async () => {
    const of = create()
    const found = await of('base').of([0])
    assert.deepEqual(found, { prices: new Map([[0, dollars(65_000n)]]), isIncomplete: false })
    await of('polygon').of([0])
    assert.deepEqual(asked, [[0, { fromS: 9 * WEEK_S, toS: 10 * WEEK_S, minutes: 60 }]])
  })

  it('keeps what it found for ever, whatever the price does, also across a restart', async () => {
    await create()('base').of([0, 1])
    await test.reopen()
    closes = new Map([[0, dollars(9n)]])
    const found = await create()('base').of([0, 1])
    assert.deepEqual(
      [...found.prices],
      [
        [0, dollars(65_000n)],
        [1, dollars(2_500n)],
      ],
    )
    assert.equal(asked.length, 2)
  })

  it('takes the current price where there is no history, and nothing where there is neither', async () => {
    marks.set(7, dollars(3n))
    const found = await create()('base').of([7, 8])
    assert.deepEqual(found, { prices: new Map([[7, dollars(3n)]]), isIncomplete: false })
  })

  it('says when the feed failed, keeps the rest, and asks again', async () => {
    closes.set(1, 'away')
    const prices = create()('base')
    assert.deepEqual(await prices.of([0, 1]), { prices: new Map([[0, dollars(65_000n)]]), isIncomplete: true })
    closes.set(1, dollars(2n))
    const again = await prices.of([0, 1])
    assert.deepEqual([again.isIncomplete, again.prices.get(1)], [false, dollars(2n)])
    assert.equal(asked.length, 3)
  })
})
