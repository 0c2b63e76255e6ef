import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Order, Position } from '@bezel/protocol/wire'
import { priceMarks, triggerMarks } from './priceLines.ts'

const TRADER = '0x6b3595068778dd592e39a122f4f5a5cf09c90fe2'

const position = (id: string, given: Partial<Position> = {}): Position => ({
  id,
  trader: TRADER,
  market: 'BTC/USD',
  pairIndex: 0,
  side: 'long',
  size: '1',
  collateral: '10',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '100',
  markPrice: '100',
  liquidationPrice: '91',
  unrealizedPnl: '0',
  unrealizedPnlPercent: '0',
  fundingFee: '0',
  borrowingFee: '0',
  sl: '0',
  tp: '120',
  openedAtBlock: 1,
  marginMode: 'isolated',
  priceAt: 0,
  pendingUpdate: null,
  realized: '0',
  ...given,
})

const order = (id: string, given: Partial<Order> = {}): Order => ({
  id,
  trader: TRADER,
  market: 'BTC/USD',
  side: 'short',
  type: 'limit',
  size: '1',
  price: '130',
  leverage: '10',
  collateral: 'USDC',
  sl: null,
  tp: null,
  reduceOnly: false,
  slippage: '1',
  clientId: null,
  status: 'open',
  txHash: null,
  expiresAt: null,
  fill: null,
  reason: null,
  createdAt: 0,
  updatedAt: 0,
  ...given,
})

describe('the lines of a market', () => {
  it('are entry, stops that there are, and liquidation of each position', () => {
    const lines = priceMarks('BTC/USD', [position('7'), position('8', { market: 'ETH/USD' })], [])
    assert.deepEqual(
      lines.map(({ id, price, title }) => [id, price, title]),
      [
        ['entry-7', '100', 'Long'],
        ['tp-7', '120', 'TP'],
        ['liquidation-7', '91', 'Liq.'],
      ],
    )
  })

  it('tell several positions apart', () => {
    const titles = priceMarks('BTC/USD', [position('7'), position('8', { side: 'short' })], []).map(
      ({ title }) => title,
    )
    assert.deepEqual(titles, ['Long 1', 'TP 1', 'Liq. 1', 'Short 2', 'TP 2', 'Liq. 2'])
  })

  it('are those of resting orders too, and of no others', () => {
    const orders = [
      order('1'),
      order('2', { type: 'stop', side: 'long' }),
      order('3', { status: 'pending' }),
      order('4', { type: 'market' }),
      order('5', { market: 'ETH/USD' }),
    ]
    assert.deepEqual(
      priceMarks('BTC/USD', [], orders).map(({ id, title }) => [id, title]),
      [
        ['order-1', 'Limit short'],
        ['order-2', 'Stop long'],
      ],
    )
  })
})

describe('the triggers of a market', () => {
  it('are two for each position, without a price where there is none', () => {
    const marks = triggerMarks('BTC/USD', [position('7')])
    assert.deepEqual(
      marks.map(({ id, price, ordinal }) => [id, price, ordinal]),
      [
        ['tp-7', '120', null],
        ['sl-7', null, null],
      ],
    )
    assert.deepEqual(
      triggerMarks('BTC/USD', [position('7'), position('9')]).map(({ ordinal }) => ordinal),
      [1, 1, 2, 2],
    )
  })
})
