import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { splitSpan, type Cut, below, mix } from './spanTree.ts'

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 })

const cutArbitrary: fc.Arbitrary<Cut> = fc
  .record({
    seed: fc.nat(),
    level: fc.integer({ min: 1, max: 5 }),
    first: fc.nat(),
    parts: fc.integer({ min: 3, max: 6 }),
    movePpb: fc.integer({ min: 1, max: 60_000_000 }),
    values: fc.array(fc.integer({ min: 500_000_000, max: 2_000_000_000 }), { minLength: 4, maxLength: 4 }),
  })
  .map(({ values, ...cut }) => {
    const [low, left, right, high] = values.toSorted((a, b) => a - b) as [number, number, number, number]
    return { ...cut, parent: { left, right, high, low }, isNap: () => false }
  })

/** Cuts in which every second part is a nap, beginning with the first or with the second. */
const sleepyCut = fc.tuple(cutArbitrary, fc.integer({ min: 0, max: 1 })).map(([cut, odd]): Cut => {
  return { ...cut, isNap: (part) => (part + odd) % 2 === 1 }
})

describe('splitSpan', () => {
  it('keeps the ends, joins the parts and hands both extremes down exactly', () => {
    fc.assert(
      fc.property(fc.oneof(cutArbitrary, sleepyCut), (cut) => {
        const parts = splitSpan(cut)
        assert.equal(parts.length, cut.parts)
        assert.equal(parts[0]!.left, cut.parent.left)
        assert.equal(parts.at(-1)!.right, cut.parent.right)
        for (const [at, part] of parts.entries()) {
          if (at > 0) assert.equal(part.left, parts[at - 1]!.right)
          assert.ok(part.high >= Math.max(part.left, part.right) && part.low <= Math.min(part.left, part.right))
        }
        assert.equal(Math.max(...parts.map((part) => part.high)), cut.parent.high)
        assert.equal(Math.min(...parts.map((part) => part.low)), cut.parent.low)
      }),
      { numRuns: 2_000 },
    )
  })

  it('stands still in a nap', () => {
    fc.assert(
      fc.property(sleepyCut, (cut) => {
        for (const [at, { left, right, high, low }] of splitSpan(cut).entries()) {
          if (cut.isNap(cut.first + at)) assert.deepEqual([right, high, low], [left, left, left])
        }
      }),
    )
  })

  it('leads to a far extreme by a knot near it, not by a lone spike', () => {
    const parent = { left: 1_000_000, right: 1_000_000, high: 1_900_000, low: 100_000 }
    for (let first = 0; first < 200; first += 4) {
      const parts = splitSpan({ seed: 1, level: 2, first, parts: 4, movePpb: 50_000, parent, isNap: () => false })
      const knots = parts.map((part) => part.right)
      assert.ok(Math.max(...knots) >= 1_850_000 && Math.min(...knots) <= 150_000)
    }
  })
})

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
