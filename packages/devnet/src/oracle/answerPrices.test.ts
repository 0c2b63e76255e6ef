import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { packAnswer } from './answerPrices.ts'

const price = fc.bigInt(0n, 2n ** 56n - 1n)

describe('packAnswer', () => {
  it('puts each field where the Diamond unpacks it', () => {
    fc.assert(
      fc.property(
        price,
        price,
        price,
        price,
        fc.integer({ min: 0, max: 0xffff_ffff }),
        (open, high, low, current, ts) => {
          const word = packAnswer({ open, high, low, current }, ts)
          const field = (from: bigint, bits: bigint) => (word >> from) & (2n ** bits - 1n)
          assert.deepEqual(
            [field(0n, 56n), field(56n, 56n), field(112n, 56n), field(168n, 56n), field(224n, 32n)],
            [open, high, low, current, BigInt(ts)],
          )
          assert.ok(word < 2n ** 256n)
        },
      ),
    )
  })
})
