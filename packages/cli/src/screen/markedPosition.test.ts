import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { markPosition } from './markedPosition.ts'
import { POSITION, priceOf } from './testing/sampleScreen.ts'

describe('markPosition', () => {
  it('is what was told while the mark is the same, or not known', () => {
    for (const price of [undefined, priceOf('BTC/USD', POSITION.markPrice)]) {
      const { pnl, pnlPercent, mark } = markPosition(POSITION, price)
      assert.deepEqual([pnl, pnlPercent, mark], ['-0.961', '-0.8', '60000'])
    }
  })

  it('follows the mark of a long and of a short', () => {
    // 0.5 BTC at 60000 with 10x: 3000 USDC of collateral, and 300 of fees that were charged.
    const told = { ...POSITION, collateral: '3000', entryPrice: '60000', unrealizedPnl: '-300', realized: '-300' }
    const { pnl, pnlPercent } = markPosition(told, priceOf('BTC/USD', '60600'))
    assert.deepEqual([pnl, pnlPercent], ['0', '0'])
    assert.equal(markPosition({ ...told, side: 'short' }, priceOf('BTC/USD', '60600')).pnl, '-600')
    assert.equal(markPosition(told, priceOf('BTC/USD', '1')).pnl, '-3300', 'no more than the collateral, and the fees')
  })

  it('is what a new valuation would say, skew included', () => {
    const amounts = fc.double({ min: 1, max: 1000, noNaN: true })
    const near = fc.double({ min: 0.97, max: 1.03, noNaN: true })
    fc.assert(
      fc.property(
        amounts,
        amounts,
        near,
        near,
        near,
        fc.boolean(),
        (entry, collateral, first, second, skew, isLong) => {
          const leverage = 7
          const fees = { fundingFee: 0.25, borrowingFee: 0.5, realized: -1 }
          const valued = (mark: number): number => {
            const move = (mark * skew) / entry - 1
            const profit = Math.max(-collateral, (isLong ? move : -move) * collateral * leverage)
            return profit - fees.fundingFee - fees.borrowingFee + fees.realized
          }
          const [before, now] = [entry * first, entry * second]
          const text = (value: number): string => value.toFixed(12)
          const told = {
            ...POSITION,
            side: isLong ? ('long' as const) : ('short' as const),
            entryPrice: text(entry),
            collateral: text(collateral),
            leverage: String(leverage),
            markPrice: text(before),
            unrealizedPnl: text(valued(before)),
            unrealizedPnlPercent: text((valued(before) / collateral) * 100),
            fundingFee: text(fees.fundingFee),
            borrowingFee: text(fees.borrowingFee),
            realized: text(fees.realized),
          }
          const { pnl, pnlPercent } = markPosition(told, priceOf('BTC/USD', text(now)))
          assert.ok(Math.abs(Number(pnl) - valued(now)) < 1e-6, `${pnl} is not ${valued(now)}`)
          assert.ok(Math.abs(Number(pnlPercent) - (valued(now) / collateral) * 100) < 1e-4)
        },
      ),
    )
  })
})
