import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultLeverage } from './leverage.ts'

describe('the leverage of who never chose one', () => {
  it('is ten, or the nearest whole number that the market takes', () => {
    const cases: [minLeverage: bigint, maxLeverage: bigint, expected: number][] = [
      [1_100n, 200_000n, 10],
      [1_100n, 5_500n, 5],
      [25_500n, 200_000n, 26],
      [10_000n, 10_000n, 10],
      [1_100n, 1_500n, 1],
    ]
    for (const [minLeverage, maxLeverage, expected] of cases) {
      assert.equal(defaultLeverage({ minLeverage, maxLeverage }), expected)
    }
  })
})
