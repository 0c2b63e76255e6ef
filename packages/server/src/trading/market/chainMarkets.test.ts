import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDecimal, Price, scaleDecimal } from '@bezel/protocol'
import { precisionOf } from './chainMarkets.ts'

function precision(price: string): readonly [price: number, size: number] {
  const { pricePrecision, sizePrecision } = precisionOf(Price.of(scaleDecimal(parseDecimal(price)!, 10)!))
  return [pricePrecision, sizePrecision]
}

describe('precisionOf', () => {
  it('is what the formulas say for real markets', () => {
    assert.deepEqual(precision('65000'), [2, 5])
    assert.deepEqual(precision('2500'), [2, 4])
    assert.deepEqual(precision('154'), [3, 3])
    assert.deepEqual(precision('14'), [4, 2])
    assert.deepEqual(precision('1.16'), [5, 1])
    assert.deepEqual(precision('0.14'), [6, 0])
    assert.deepEqual(precision('0.0000085'), [10, 0])
  })

  it('turns exactly at every power of ten', () => {
    for (let power = -9; power <= 9; power += 1) {
      const at = 10n ** BigInt(power + 10)
      const bounded = (n: number) => ({
        pricePrecision: Math.min(Math.max(5 - n, 2), 10),
        sizePrecision: Math.min(Math.max(n + 1, 0), 8),
      })
      assert.deepEqual(precisionOf(Price.of(at)), bounded(power), `10^${power}`)
      assert.deepEqual(precisionOf(Price.of(at - 1n)), bounded(power - 1), `just below 10^${power}`)
    }
  })

  it('stays within its bounds at the ends', () => {
    assert.deepEqual(precision('0.0000000001'), [10, 0])
    assert.deepEqual(precisionOf(Price.of(2n ** 64n - 1n)), { pricePrecision: 2, sizePrecision: 8 })
    assert.throws(() => precisionOf(Price.zero), RangeError)
  })
})
