import type { Order, Position } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatAmount } from '../ground/format.ts'
import { flattenPlan, leftoversOf, progressOf, standOf } from './flattenPlan.ts'

const POSITION = { id: '3', market: 'BTC/USD', side: 'long', size: '0.02', leverage: '10' } as Position

const order = (id: string, of: Partial<Order> = {}): Order =>
  ({
    id,
    market: 'ETH/USD',
    side: 'short',
    size: '2',
    type: 'limit',
    reduceOnly: false,
    status: 'open',
    txHash: null,
    reason: null,
    ...of,
  }) as Order

const SHORT = `ETH/USD short ${formatAmount('2', { decimals: 8 })}`

describe('a flatten', () => {
  it('names everything that it ends, orders first, and how', () => {
    const orders = [order('9'), order('8', { status: 'timed_out' }), order('7', { status: 'prepared' })]
    const plan = flattenPlan([POSITION], orders, undefined)
    assert.deepEqual(
      plan.map(({ id, kind, end }) => [id, kind, end]),
      [
        ['9', 'order', 'cancelled'],
        ['8', 'order', 'reclaimed'],
        ['7', 'order', 'withdrawn'],
        ['3', 'position', 'closed at the market'],
      ],
    )
    assert.equal(plan[0]?.words, `ETH/USD short ${formatAmount('2', { decimals: 8 })}, limit order`)
    assert.equal(plan[3]?.words, `BTC/USD long ${formatAmount('0.02', { decimals: 8 })} at 10×`)
  })

  it('names those of one market', () => {
    assert.deepEqual(
      flattenPlan([POSITION], [order('9')], 'BTC/USD').map(({ id }) => id),
      ['3'],
    )
  })

  it('counts what has ended', () => {
    const sent = [order('9'), order('8'), order('7', { status: 'expired' })]
    const latest = new Map([['9', order('9', { status: 'canceled' })]])
    assert.deepEqual(progressOf(sent, latest), { total: 3, ended: 2 })
  })

  it('names what it left open, with the reason', () => {
    const leftOut = [{ id: '3', code: 'MARKET_CLOSED', message: 'The market is closed.' } as const]
    const missed = [order('12', { status: 'rejected', reason: 'SLIPPAGE' }), order('13', { status: 'timed_out' })]
    assert.deepEqual(leftoversOf(leftOut, missed), [
      { id: '3', words: 'The market is closed.' },
      { id: '12', words: `${SHORT}: rejected. The price moved further than the slippage allows.` },
      { id: '13', words: `${SHORT}: timed out.` },
    ])
  })
})

describe('a flatten that a reload has interrupted', () => {
  const close = (id: string, of: Partial<Order> = {}): Order =>
    order(id, { market: 'BTC/USD', side: 'short', size: '0.02', type: 'market', reduceOnly: true, ...of })
  const held = [POSITION, { ...POSITION, id: '4' }, { ...POSITION, id: '5', size: '0.03' }]
  const things = flattenPlan(held, [order('9'), order('8')], undefined)
  const idsOf = (positions: readonly Position[], orders: readonly Order[], market?: string) => {
    const { ended, sent, left } = standOf(things, { positions, orders, market })
    return [ended, sent, left].map((group) => group.map(({ id }) => id))
  }

  it('has everything left when nothing was sent, and closes that were only prepared count for nothing', () => {
    const all = ['9', '8', '3', '4', '5']
    assert.deepEqual(idsOf(held, [order('9'), order('8')]), [[], [], all])
    assert.deepEqual(idsOf(held, [order('9'), order('8'), close('10', { status: 'prepared' })]), [[], [], all])
  })

  it('knows what has ended and what is on its way, each close for one position', () => {
    const pending = close('10', { status: 'pending' })
    assert.deepEqual(idsOf(held, [order('8'), pending]), [['9'], ['3'], ['8', '4', '5']])
    const sent = close('11', { status: 'prepared', txHash: '0x12' })
    assert.deepEqual(idsOf(held.slice(0, 2), [pending, sent]), [['9', '8', '5'], ['3', '4'], []])
    assert.deepEqual(idsOf([], []), [['9', '8', '3', '4', '5'], [], []])
  })

  it('names what came up since, a close that was not answered among it', () => {
    const orders = [close('10', { status: 'timed_out' }), order('12', { status: 'pending' })]
    assert.deepEqual(idsOf([POSITION], orders), [['9', '8', '4', '5'], ['12'], ['10', '3']])
    assert.deepEqual(idsOf([], [order('12')], 'BTC/USD'), [['9', '8', '3', '4', '5'], [], []])
  })
})
