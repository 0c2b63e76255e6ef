import type { FillHistoryEntry } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collateralsOf, equityLines, type LinePoint } from './equity.ts'

const entry = (id: number, second: number, of: Partial<FillHistoryEntry> = {}): FillHistoryEntry =>
  ({
    id,
    timestamp: second * 1000,
    collateralSymbol: 'USDC',
    netPnl: '0',
    feeCollateral: '0',
    fundingFee: '0',
    borrowingFee: '0',
    ...of,
  }) as FillHistoryEntry

const pairs = (line: readonly LinePoint[]): (readonly [number, string])[] =>
  line.map(({ time, value }) => [time, value])

describe('equity over time', () => {
  const fills = [
    entry(3, 300, { netPnl: '8.5', feeCollateral: '1', fundingFee: '-0.25', borrowingFee: '0.5' }),
    entry(2, 200, { netPnl: '-0.3', feeCollateral: '0.3' }),
    entry(1, 200, { netPnl: '-0.7', feeCollateral: '0.7' }),
  ]

  it('adds up profit, fees and funding, one point for each second', () => {
    const { lines } = equityLines(fills, 'USDC', null)
    assert.deepEqual(pairs(lines.netPnl), [
      [140, '0'],
      [200, '-1'],
      [300, '7.5'],
    ])
    assert.deepEqual(pairs(lines.fees).at(-1), [300, '-2'])
    assert.deepEqual(pairs(lines.funding).at(-1), [300, '0.25'])
    assert.deepEqual(pairs(lines.borrowing).at(-1), [300, '-0.5'])
    assert.deepEqual(lines.equity, [])
  })

  it('is drawn back from what the account is worth now, and ends with the open profit', () => {
    const { lines } = equityLines(fills, 'USDC', { booked: '107.5', live: '110', atMs: 400_500 })
    assert.deepEqual(pairs(lines.equity), [
      [140, '100'],
      [200, '99'],
      [300, '107.5'],
      [400, '110'],
    ])
    assert.deepEqual(pairs(lines.netPnl).at(-1), [400, '7.5'])
  })

  it('has ascending times whatever the order of the entries is', () => {
    for (const line of Object.values(equityLines(fills.toReversed(), 'USDC', null).lines)) {
      assert.deepEqual(
        line.map(({ time }) => time),
        line.map(({ time }) => time).toSorted((a, b) => a - b),
      )
    }
  })

  it('leaves out other collaterals and entries without amounts', () => {
    const more = [...fills, entry(4, 320, { collateralSymbol: 'DAI', netPnl: '5' }), entry(5, 330, { netPnl: null })]
    assert.equal(equityLines(more, 'USDC', null).lines.netPnl.at(-1)?.value, '7.5')
    assert.deepEqual(collateralsOf(more), ['USDC', 'DAI'])
  })

  it('of an account without trades is a single point', () => {
    const { lines } = equityLines([], 'USDC', { booked: '5', live: '5', atMs: 9_000 })
    assert.deepEqual([pairs(lines.equity), lines.netPnl], [[[9, '5']], []])
  })
})
