import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { below, mix } from './mix.ts'

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 })

describe('mix', () => {
  it('gives a 32-bit word, the same one each time', () => {
    fc.assert(
      fc.property(word, word, word, word, (seed, a, b, c) => {
        const hash = mix(seed, a, b, c)
        assert.ok(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32)
        assert.equal(mix(seed, a, b, c), hash)
      }),
    )
  })

  it('notices every argument and its place', () => {
    const hashes = [mix(1, 2, 3, 4), mix(2, 2, 3, 4), mix(1, 3, 2, 4), mix(1, 2, 4, 3), mix(1, 2, 3, 5)]
    assert.equal(new Set(hashes).size, hashes.length)
  })
})

describe('below', () => {
  it('stays below its bound', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 29 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bound, hash) => {
        const picked = below(hash, bound)
        assert.ok(Number.isInteger(picked) && picked >= 0 && picked < Math.max(bound, 1))
      }),
    )
  })

  it('is even', () => {
    const counts = [0, 0, 0, 0, 0]
    for (let at = 0; at < 50_000; at += 1) counts[below(mix(9, at, 0, 0), 5)]! += 1
    for (const count of counts) assert.ok(Math.abs(count - 10_000) < 400, `${counts}`)
  })
})
