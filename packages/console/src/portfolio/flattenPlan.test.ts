import type { Order, Position } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatAmount } from '../ground/format.ts'
import { flattenPlan, leftoversOf, progressOf } from './flattenPlan.ts'

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
    assert.equal(plan[3]?.words, `BTC/USD long ${formatAmount('0.02', { decimals: 8 })} at 10x`)
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
