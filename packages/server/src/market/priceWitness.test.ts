import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { PairPrice } from './feed/parseFrame.ts'
import { createPriceWitness, READING_MS, type PriceWitness } from './priceWitness.ts'
import { createWorld, portsOf, usd, type MarketWorld } from './testing/fixtures.ts'

const QUIET_MS = 60_000

describe('the second witness', () => {
  let world: MarketWorld
  let asked: ((marks: readonly PairPrice[] | Error) => void)[]
  let witness: PriceWitness

  beforeEach(() => {
    world = createWorld()
    asked = []
    const { book, now } = portsOf(world)
    const snapshot = async () => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly PairPrice[]>()
      asked.push((marks) => (marks instanceof Error ? reject(marks) : resolve(marks)))
      return { marks: await promise, indices: [] }
    }
    witness = createPriceWitness({ pages: { snapshot }, book, quietMs: QUIET_MS, now })
  })

  it('is not asked for a pair whose last price is young enough, nor for one without a price', async () => {
    world.nowMs += QUIET_MS
    assert.equal(await witness.priceOf(0), undefined)
    assert.equal(await witness.priceOf(7), undefined)
    assert.equal(asked.length, 0)
  })

  it('is asked once for all pairs and all who wait', async () => {
    world.nowMs += QUIET_MS + 1
    const prices = [witness.priceOf(0), witness.priceOf(21), witness.priceOf(0)]
    asked[0]!([
      [0, usd(60_001)],
      [21, usd(1.17)],
    ])
    assert.deepEqual(await Promise.all(prices), [usd(60_001), usd(1.17), usd(60_001)])
    assert.equal(asked.length, 1)
  })

  it('is asked at most every ten seconds, also after it failed', async () => {
    world.nowMs += QUIET_MS + 1
    const first = witness.priceOf(0)
    asked[0]!(new Error('away'))
    assert.equal(await first, undefined)
    world.nowMs += READING_MS - 1
    assert.equal(await witness.priceOf(0), undefined)
    assert.equal(asked.length, 1)
    world.nowMs += 1
    const second = witness.priceOf(0)
    asked[1]!([[0, usd(59_000)]])
    assert.equal(await second, usd(59_000))
    world.nowMs += READING_MS - 1
    assert.equal(await witness.priceOf(0), usd(59_000))
    assert.deepEqual([asked.length, READING_MS], [2, 10_000])
  })
})
