import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MAX_BACKOFF_MS, MIN_BACKOFF_MS, backoffMs } from './backoff.ts'

describe('backoffMs', () => {
  it('doubles from the minimum to the maximum', () => {
    const delays = [0, 1, 2, 5, 6, 1_000].map((attempt) => backoffMs(attempt, 0.999_999))
    assert.deepEqual(delays, [250, 500, 1_000, 8_000, 10_000, 10_000])
  })

  it('takes up to half off at random, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, random) => {
          const delay = backoffMs(attempt, random)
          const ceiling = backoffMs(attempt, 1)
          assert.ok(delay >= MIN_BACKOFF_MS / 2 && delay <= MAX_BACKOFF_MS)
          assert.ok(delay >= Math.floor(ceiling / 2) && delay <= ceiling)
        },
      ),
    )
  })

  it('stops at another maximum when one is given', () => {
    assert.deepEqual(
      [0, 1, 2, 3].map((attempt) => backoffMs(attempt, 1, 700)),
      [250, 500, 700, 700],
    )
  })
})
