import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { Price, scaleDecimalTruncated } from '@bezel/protocol'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ExchangeErr } from './errStrings.ts'
import type { MarketView } from './marketView.ts'
import { boundTerms, closingTerms, type BoundTerms } from './priceBound.ts'

/** An order on either side at a price up to 70 percent away from the mark. */
const anyBounded = fc
  .record({
    mark: fc.bigInt({ min: 10n ** 5n, max: 10n ** 16n }),
    awayP: fc.bigInt({ min: 1n, max: 70_000n }),
    isBuy: fc.boolean(),
    pricePrecision: fc.integer({ min: 2, max: 10 }),
  })
  .map(({ mark, awayP, isBuy, pricePrecision }) => ({
    view: { mark, market: { pricePrecision } } as MarketView,
    isBuy,
    bound: isBuy ? mark + (mark * awayP) / 100_000n : mark - (mark * awayP) / 100_000n,
    step: 10n ** BigInt(10 - pricePrecision),
  }))

const slipping = (maxClosingSlippageP: number): LivePosition => ({ state: { maxClosingSlippageP } }) as LivePosition

/** Returns the worst price at which the contracts execute (`Opening.isSlipped`). */
function worstOf(isBuy: boolean, { price, slippage }: BoundTerms): bigint {
  const expected = scaleDecimalTruncated(price, 10)
  const tolerance = (expected * scaleDecimalTruncated(slippage, 3)) / 100n / 1_000n
  return isBuy ? expected + tolerance : expected - tolerance
}

/** Returns `undefined` for a bound that is refused because it is not beyond the mark. */
function unlessRefused<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof ExchangeErr) return undefined
    throw error
  }
}

describe('terms of a bounded order', () => {
  it('never allow a worse price than the one of the order', () => {
    const property = fc.property(anyBounded, ({ view, isBuy, bound }) => {
      const terms = unlessRefused(() => boundTerms(view, isBuy, Price.of(bound)))
      if (terms === undefined) return
      const worst = worstOf(isBuy, terms)
      assert.ok(isBuy ? worst <= bound : worst >= bound)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('of one that closes keep the slippage that is in force, and reach the price of the order to a step', () => {
    const anySlippages = fc.array(fc.integer({ min: 0, max: 65_535 }), { minLength: 1, maxLength: 3 })
    const property = fc.property(anyBounded, anySlippages, ({ view, isBuy, bound, step }, inForce) => {
      const terms = unlessRefused(() => closingTerms(view, isBuy, Price.of(bound), inForce.map(slipping)))
      if (terms === undefined) return
      assert.equal(scaleDecimalTruncated(terms.slippage, 3), BigInt(Math.max(1_000, ...inForce)))
      const worst = worstOf(isBuy, terms)
      const distance = isBuy ? bound - worst : worst - bound
      assert.ok(distance >= 0n && distance <= 2n * step, `${distance} with steps of ${step}`)
    })
    fc.assert(property, { numRuns: 2_000 })
  })
})
