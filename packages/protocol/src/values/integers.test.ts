import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { abs, max, min, mulDivCeil, mulDivFloor, mulDivTruncate } from './integers.ts'

const signed = fc.bigInt({ min: -(2n ** 130n), max: 2n ** 130n })

const divisor = signed.filter((value) => value !== 0n)

describe('mulDiv', () => {
  it('rounds as its name says, for every pair of signs', () => {
    for (const [a, d, truncated, floored, ceiled] of [
      [7n, 2n, 3n, 3n, 4n],
      [-7n, 2n, -3n, -4n, -3n],
      [7n, -2n, -3n, -4n, -3n],
      [-7n, -2n, 3n, 3n, 4n],
      [6n, 2n, 3n, 3n, 3n],
      [-6n, 2n, -3n, -3n, -3n],
      [0n, -5n, 0n, 0n, 0n],
    ] as const) {
      assert.equal(mulDivTruncate(a, 1n, d), truncated)
      assert.equal(mulDivFloor(a, 1n, d), floored)
      assert.equal(mulDivCeil(a, 1n, d), ceiled)
    }
  })

  it('brackets the exact quotient, with no gap wider than one', () => {
    fc.assert(
      fc.property(signed, signed, divisor, (a, b, d) => {
        const floored = mulDivFloor(a, b, d)
        const ceiled = mulDivCeil(a, b, d)
        const [product, positive] = d < 0n ? [-a * b, -d] : [a * b, d]
        assert.ok(floored * positive <= product && product < (floored + 1n) * positive)
        assert.ok((ceiled - 1n) * positive < product && product <= ceiled * positive)
        assert.equal(mulDivTruncate(a, b, d), product < 0n ? ceiled : floored)
      }),
    )
  })

  it('throws on a zero divisor', () => {
    for (const divide of [mulDivTruncate, mulDivFloor, mulDivCeil]) assert.throws(() => divide(1n, 1n, 0n), RangeError)
  })
})

describe('min, max and abs', () => {
  it('compare by value, for every pair of signs', () => {
    fc.assert(
      fc.property(signed, signed, (a, b) => {
        assert.equal(min(a, b) + max(a, b), a + b)
        assert.ok(min(a, b) <= max(a, b))
        assert.ok(abs(a) >= 0n && abs(a) * abs(a) === a * a)
      }),
    )
  })
})
