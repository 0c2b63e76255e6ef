import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { migrate } from '../store/migrate.ts'
import { openTestStore, type TestStore } from '../store/testStore.ts'
import { FeedUnavailableError, type CandleRange } from './feed/pages.ts'
import { createReferencePrices } from './referencePrices.ts'

const P10 = 10n ** 10n
const WEEK_S = 7 * 86_400

describe('createReferencePrices', () => {
  let test: TestStore
  let asked: [number, CandleRange][]
  let closes: Map<number, bigint | 'away'>
  let marks: Map<number, bigint>

  beforeEach(async () => {
    test = openTestStore()
    await migrate(test.store)
    asked = []
    closes = new Map([
      [0, 65_000n * P10],
      [1, 2_500n * P10],
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
    assert.deepEqual(found, { prices: new Map([[0, 65_000n * P10]]), isIncomplete: false })
    await of('polygon').of([0])
    assert.deepEqual(asked, [[0, { fromS: 9 * WEEK_S, toS: 10 * WEEK_S, minutes: 60 }]])
  })

  it('keeps what it found for ever, whatever the price does, also across a restart', async () => {
    await create()('base').of([0, 1])
    await test.reopen()
    closes = new Map([[0, 9n * P10]])
    const found = await create()('base').of([0, 1])
    assert.deepEqual(
      [...found.prices],
      [
        [0, 65_000n * P10],
        [1, 2_500n * P10],
      ],
    )
    assert.equal(asked.length, 2)
  })

  it('takes the current price where there is no history, and nothing where there is neither', async () => {
    marks.set(7, 3n * P10)
    const found = await create()('base').of([7, 8])
    assert.deepEqual(found, { prices: new Map([[7, 3n * P10]]), isIncomplete: false })
  })

  it('says when the feed failed, keeps the rest, and asks again', async () => {
    closes.set(1, 'away')
    const prices = create()('base')
    assert.deepEqual(await prices.of([0, 1]), { prices: new Map([[0, 65_000n * P10]]), isIncomplete: true })
    closes.set(1, 2n * P10)
    const again = await prices.of([0, 1])
    assert.deepEqual([again.isIncomplete, again.prices.get(1)], [false, 2n * P10])
    assert.equal(asked.length, 3)
  })
})
