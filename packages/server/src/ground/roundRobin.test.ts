import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createRoundRobin } from './roundRobin.ts'

describe('round robin', () => {
  it('goes round', () => {
    const roundRobin = createRoundRobin<number>()
    const all = new Set([1, 2, 3])
    assert.deepEqual(roundRobin.take(all, 2), new Set([1, 2]))
    assert.deepEqual(roundRobin.take(all, 2), new Set([3, 1]))
    assert.deepEqual(roundRobin.take(all, 9), new Set([2, 3, 1]))
    assert.deepEqual(roundRobin.take(all, 0), new Set())
    assert.deepEqual(roundRobin.take(new Set(), 9), new Set())
  })

  it('comes to everybody who stays, whoever comes and goes', () => {
    const max = 3
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.integer({ min: 2, max: 12 })), { minLength: 5, maxLength: 40 }),
        (rounds) => {
          const roundRobin = createRoundRobin<number>()
          let waited = 0
          for (const others of rounds) {
            const candidates = new Set([...others, 1])
            const taken = roundRobin.take(candidates, max)
            assert.ok(taken.isSubsetOf(candidates))
            assert.equal(taken.size, Math.min(max, candidates.size))
            waited = taken.has(1) ? 0 : waited + 1
            // At most eleven candidates can have been in the queue before it.
            assert.ok(waited <= Math.ceil(11 / max))
          }
        },
      ),
    )
  })
})
