import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import fc from 'fast-check'
import { createRotation } from './rotation.ts'
import { traderOf } from '../accounts/testing/accountNode.ts'

const setOf = (numbers: Iterable<number>): Set<Address> => new Set([...numbers].map(traderOf))

describe('turns', () => {
  it('go round', () => {
    const rotation = createRotation()
    const all = setOf([1, 2, 3])
    assert.deepEqual(rotation.take(all, 2), setOf([1, 2]))
    assert.deepEqual(rotation.take(all, 2), setOf([3, 1]))
    assert.deepEqual(rotation.take(all, 9), setOf([2, 3, 1]))
    assert.deepEqual(rotation.take(all, 0), new Set())
    assert.deepEqual(rotation.take(new Set(), 9), new Set())
  })

  it('come to everybody who stays, whoever comes and goes', () => {
    const max = 3
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.integer({ min: 2, max: 12 })), { minLength: 5, maxLength: 40 }),
        (rounds) => {
          const rotation = createRotation()
          let waited = 0
          for (const others of rounds) {
            const candidates = setOf([...others, 1])
            const taken = rotation.take(candidates, max)
            assert.ok(taken.isSubsetOf(candidates))
            assert.equal(taken.size, Math.min(max, candidates.size))
            waited = taken.has(traderOf(1)) ? 0 : waited + 1
            // At most eleven can have been there before.
            assert.ok(waited <= Math.ceil(11 / max))
          }
        },
      ),
    )
  })
})
