import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decimal } from '@bezel/sdk'
import fc from 'fast-check'
import { leverageMarks, leverageOfPlace, placeOfLeverage, SLIDER_PLACES } from './leverageScale.ts'

const CRYPTO = { minLeverage: '1.1', maxLeverage: '200' }

describe('the slider of the leverage', () => {
  it('has the bounds of the market at its ends, and 15 in the middle of 1.1 and 200', () => {
    assert.deepEqual(
      [0, 50, SLIDER_PLACES].map((place) => leverageOfPlace(place, CRYPTO)),
      ['1.1', '15', '200'],
    )
    assert.deepEqual(
      ['1.1', '200', '500', '0', 'x'].map((text) => placeOfLeverage(text, CRYPTO)),
      [0, 100, 100, 0, 0],
    )
    assert.equal(placeOfLeverage('5', { minLeverage: '5', maxLeverage: '5' }), 0)
  })

  it('has marks within the bounds that fit below it', () => {
    const labels = (bounds: typeof CRYPTO): string[] => leverageMarks(bounds).map(({ label }) => label)
    assert.deepEqual(labels(CRYPTO), ['2×', '10×', '50×', '150×', '200×'])
    assert.deepEqual(labels({ minLeverage: '10', maxLeverage: '1000' }), ['10×', '50×', '150×', '500×', '1000×'])
    assert.deepEqual(labels({ minLeverage: '3', maxLeverage: '4' }), ['4×'])
  })

  it('leads from every place to a leverage that the market takes, and near to that place again', () => {
    const bounds = fc.tuple(fc.integer({ min: 1_100, max: 20_000 }), fc.integer({ min: 30_000, max: 1_000_000 }))
    fc.assert(
      fc.property(bounds, fc.integer({ min: 0, max: SLIDER_PLACES }), ([min, max], place) => {
        const of = { minLeverage: String(min / 1_000), maxLeverage: String(max / 1_000) }
        const leverage = leverageOfPlace(place, of)
        assert.ok(decimal.compare(leverage, of.minLeverage) >= 0 && decimal.compare(leverage, of.maxLeverage) <= 0)
        const steps = Math.log(max / min) / SLIDER_PLACES
        // A leverage is rounded to a tenth or a whole, which may be more than a step where steps are small.
        const rounding = Math.ceil(0.05 / steps) + 1
        assert.ok(Math.abs(placeOfLeverage(leverage, of) - place) <= rounding, `${place}: ${leverage}`)
      }),
    )
  })
})
