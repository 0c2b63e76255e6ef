import type { Order } from '@bezel/sdk'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { expectedSteps } from './expectedSteps.ts'
import { endingOf, listedOrders } from './orderList.ts'

const NOW_MS = 10_000_000

const order = (id: string, of: Partial<Order> = {}): Order =>
  ({ id, market: 'BTC/USD', status: 'open', txHash: null, type: 'limit', updatedAt: NOW_MS, ...of }) as Order

const idsOf = (orders: readonly Order[]): string[] => orders.map(({ id }) => id)

describe('the list of orders', () => {
  it('has the open ones, then those that ended a moment ago', () => {
    const open = [order('9'), order('7', { status: 'timed_out' })]
    const recent = [
      ...open,
      order('8', { status: 'rejected', updatedAt: NOW_MS - 1000 }),
      order('5', { status: 'filled' }),
      order('2', { status: 'filled', updatedAt: NOW_MS - 3_600_000 }),
    ]
    assert.deepEqual(idsOf(listedOrders(open, recent, { market: undefined, nowMs: NOW_MS })), ['9', '7', '5', '8'])
  })

  it('has those of one market, and few of the ended ones', () => {
    const open = [order('9'), order('8', { market: 'ETH/USD' })]
    const recent = ['1', '2', '3', '4', '5', '6'].map((id) => order(id, { status: 'canceled' }))
    const ids = idsOf(listedOrders(open, recent, { market: 'BTC/USD', nowMs: NOW_MS }))
    assert.deepEqual(ids, ['9', '1', '2', '3', '4', '5'])
  })

  it('offers the end that an order can have', () => {
    assert.equal(endingOf(order('1')), 'cancel')
    assert.equal(endingOf(order('1', { status: 'timed_out' })), 'reclaim')
    assert.equal(endingOf(order('1', { status: 'prepared' })), 'withdraw')
    assert.equal(endingOf(order('1', { status: 'prepared', txHash: '0x12' })), null)
    assert.equal(endingOf(order('1', { status: 'filled' })), null)
  })
})

describe('the steps that are expected', () => {
  const kindsOf = (of: Partial<Order>): string[] => expectedSteps(order('1', of)).map(({ kind }) => kind)

  it('lead from every state of an order to its fill', () => {
    assert.deepEqual(kindsOf({ status: 'prepared', type: 'market' }), ['sent', 'pending', 'filled'])
    assert.deepEqual(kindsOf({ status: 'prepared', txHash: '0x12' }), ['open', 'filled'])
    assert.deepEqual(kindsOf({ status: 'pending', type: 'market' }), ['filled'])
    assert.deepEqual(kindsOf({ status: 'pending' }), ['open', 'filled'])
    assert.deepEqual(kindsOf({ status: 'open' }), ['filled'])
  })

  it('end with the order', () => {
    for (const status of ['filled', 'rejected', 'timed_out', 'canceled', 'expired'] as const) {
      assert.deepEqual(kindsOf({ status }), [])
    }
  })
})
