import type { Position } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { liquidationDistance, totalsOf, valueAt } from './valuation.ts'

const LONG = {
  id: '3',
  market: 'BTC/USD',
  side: 'long',
  size: '0.02',
  collateral: '120',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '60000',
  markPrice: '60000',
  liquidationPrice: '54600',
  unrealizedPnl: '-1',
  fundingFee: '0.4',
  borrowingFee: '0.6',
  realized: '0',
} as Position

const SHORT = { ...LONG, side: 'short', liquidationPrice: '65400' } as Position

describe('the value of a position', () => {
  it('is what was told at the mark that it was told with', () => {
    const { pnl, pnlRate, worth, notional } = valueAt(LONG, '60000')
    assert.deepEqual([pnl, worth, notional], ['-1', '119', '1200'])
    assert.match(pnlRate, /^-0\.00833/)
  })

  it('follows a newer mark for both sides, and fees stay', () => {
    assert.equal(valueAt(LONG, '66000').pnl, '119')
    assert.equal(valueAt(SHORT, '66000').pnl, '-121')
    assert.equal(valueAt(SHORT, '57000').pnl, '59')
  })

  it('never loses more than the collateral, and is never worth less than nothing', () => {
    const { pnl, worth } = valueAt(LONG, '1')
    assert.deepEqual([pnl, worth], ['-121', '0'])
  })

  it('knows how far the liquidation is', () => {
    assert.equal(liquidationDistance(LONG, '60000'), '0.09')
    assert.equal(liquidationDistance(SHORT, '60000'), '0.09')
    assert.equal(liquidationDistance(LONG, '50000'), '0')
    assert.equal(liquidationDistance(LONG, '0'), '0')
  })

  it('adds up by collateral', () => {
    const dai = { ...LONG, collateralSymbol: 'DAI' }
    const totals = totalsOf([LONG, SHORT, dai], (market) => (market === 'BTC/USD' ? '66000' : undefined))
    assert.deepEqual(
      totals.map(({ collateralSymbol, positions, collateral, pnl, worth }) => [
        collateralSymbol,
        positions,
        collateral,
        pnl,
        worth,
      ]),
      [
        ['DAI', 1, '120', '119', '239'],
        ['USDC', 2, '240', '-2', '239'],
      ],
    )
  })
})
