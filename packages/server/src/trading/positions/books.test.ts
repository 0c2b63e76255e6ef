import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, FILL_ACTIONS } from '@bezel/protocol'
import { bookEntry, type ToldAmounts } from './books.ts'

const units = (tokens: number): CollateralAmount => CollateralAmount.of(BigInt(Math.round(tokens * 1_000_000)))

function told(of: Partial<Record<keyof ToldAmounts, number>>): ToldAmounts {
  const { pnl = 0, feeCollateral = 0, fundingFee = 0, borrowingFee = 0, deposit = 0, payout = 0 } = of
  return {
    pnl: units(pnl),
    feeCollateral: units(feeCollateral),
    fundingFee: units(fundingFee),
    borrowingFee: units(borrowingFee),
    deposit: units(deposit),
    payout: units(payout),
  }
}

describe('the books of a position', () => {
  it('balance in the worked example of the guide', () => {
    const opened = bookEntry('TradeOpenedMarket', told({ feeCollateral: 0.75, deposit: 100 }), {
      before: units(0),
      after: units(99.25),
    })
    assert.deepEqual([opened.netPnl, opened.forfeited], [units(-0.75), units(0)])

    const part = told({ pnl: 5, feeCollateral: 0.375, fundingFee: 0.05, borrowingFee: 0.15, payout: 54.15 })
    const half = bookEntry('TradePosSizeDecrease', part, { before: units(99.25), after: units(49.525) })
    assert.deepEqual([half.netPnl, half.forfeited, half.pnl], [units(4.425), units(0), units(5)])
    assert.equal(units(100) - units(54.15), units(50) - units(0.475) - opened.netPnl - half.netPnl)
  })

  it('lead rounding back to the price profit, so that nothing seems forfeited', () => {
    const part = { ...told({ pnl: 5, payout: 50 }), payout: CollateralAmount.of(54_999_997n) }
    const { pnl, netPnl, forfeited } = bookEntry('TradePosSizeDecrease', part, { before: units(100), after: units(50) })
    assert.deepEqual([pnl, netPnl, forfeited], [4_999_997n, 4_999_997n, 0n])
  })

  it('show what a liquidation kept, and what a floored payout spared', () => {
    const before = units(99)
    const liquidated = bookEntry('TradeClosedLIQ', told({ pnl: -80, feeCollateral: 10 }), { before, after: units(0) })
    assert.deepEqual([liquidated.netPnl, liquidated.forfeited], [units(-99), units(9)])
    const floored = bookEntry('TradeClosedMarket', told({ pnl: -100, feeCollateral: 3, fundingFee: 2 }), {
      before,
      after: units(0),
    })
    assert.deepEqual([floored.netPnl, floored.forfeited], [units(-99), units(-6)])
  })

  it('never hide more than rounding in the price profit', () => {
    const part = { ...told({ pnl: 5 }), payout: CollateralAmount.of(54_999_995n) }
    const { pnl, forfeited } = bookEntry('TradePosSizeDecrease', part, { before: units(100), after: units(50) })
    assert.deepEqual([pnl, forfeited], [5_000_000n, 5n])
  })

  it('have no price profit where nothing was closed, not even one unit', () => {
    const off = { ...told({ deposit: 100 }), feeCollateral: CollateralAmount.of(1_000_001n) }
    for (const action of FILL_ACTIONS.filter((name) => !/Closed|Decrease/.test(name))) {
      const { pnl, forfeited } = bookEntry(action, off, { before: units(0), after: units(99) })
      assert.deepEqual([pnl, forfeited], [0n, -1n], action)
    }
  })
})
