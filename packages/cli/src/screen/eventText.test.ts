import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fill } from '@bezel/sdk'
import { dateAndTime, styleFor } from '../output/text.ts'
import { eventLines, type ToldEvent } from './eventText.ts'
import { NOW_MS, ORDER, POSITION } from './testing/sampleScreen.ts'

const PAGE = { width: undefined, style: styleFor(false, {}) }
const ENTRY = { seq: 8, timestamp: NOW_MS, block: 5, reverted: false } as const

const FILL: Fill = {
  price: '60012.0003',
  size: '0.009999890001',
  collateral: '60',
  feeCollateral: '0.7512345',
  txHash: `0x${'12'.repeat(32)}`,
  timestamp: NOW_MS,
  positionId: '3',
}

const wordsOf = (event: ToldEvent): string => eventLines(event, PAGE).join('\n').slice('12:04:31 #8    '.length)

describe('the lines of events', () => {
  it('show where the stops of a position are, so that a moved one is seen', () => {
    const positions = [POSITION, { ...POSITION, sl: '57500.5', tp: '70000' }, { ...POSITION, sl: '0', leverage: '5' }]
    assert.deepEqual(
      positions.map((position) => wordsOf({ ...ENTRY, channel: 'positions', data: [position] })),
      [
        'positions: 1043 BTC/USD long 0.019996 at 10x, sl 57000',
        'positions: 1043 BTC/USD long 0.019996 at 10x, tp 70000, sl 57500.5',
        'positions: 1043 BTC/USD long 0.019996 at 5x',
      ],
    )
  })

  it('show the stops of an order, and of a fill what was filled', () => {
    assert.equal(
      wordsOf({ ...ENTRY, channel: 'orders', data: { ...ORDER, tp: '3500' } }),
      'order 1044 open: ETH/USD short 1.5 limit at 4200, tp 3500, sl 4500',
    )
    assert.equal(
      wordsOf({ ...ENTRY, channel: 'fills', data: { ...ORDER, fill: FILL } }),
      'fill of order 1044: ETH/USD short 0.0099999 at 60012.0003, fee 0.751235 USDC',
    )
  })

  it('have the date where they may be of another day', () => {
    const lines = eventLines({ ...ENTRY, channel: 'positions', data: [] }, PAGE, dateAndTime)
    assert.deepEqual(lines, ['2026-11-16 12:04:31 #8    positions: none open'])
  })
})
