import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { planCancelOrder } from './planCancelOrder.ts'
import { decoded, orderOf, refusalOf } from './testing/fixtures.ts'

const ACTION = { market: 'BTC/USD', leverage: null, spendUsd: 0n }

describe('a cancel', () => {
  it('of a prepared order needs nothing of the chain', () => {
    assert.equal(planCancelOrder(orderOf({ status: 'prepared', txHash: null, tradeIndex: null })), 'withdraw')
    // No node knows the hash that this one shows.
    assert.equal(planCancelOrder(orderOf({ status: 'prepared', tradeIndex: null })), 'withdraw')
  })

  it('of a resting order takes it back', () => {
    const plan = planCancelOrder(orderOf())
    assert.ok(plan !== 'withdraw')
    const { calls, ...rest } = plan
    assert.deepEqual(calls.map(decoded), [{ name: 'cancelOpenOrder', args: [5] }])
    assert.deepEqual(rest, {
      kind: 'cancel',
      action: ACTION,
      validity: 'resting',
      takes: null,
      warnings: [],
      changes: {},
    })
  })

  it('of a timed-out order reclaims every request that was not answered', () => {
    const plan = planCancelOrder(orderOf({ status: 'timed_out', tradeIndex: null, unanswered: [8, 11] }))
    assert.ok(plan !== 'withdraw')
    const { calls, ...rest } = plan
    assert.deepEqual(calls.map(decoded), [
      { name: 'cancelOrderAfterTimeout', args: [8] },
      { name: 'cancelOrderAfterTimeout', args: [11] },
    ])
    assert.deepEqual(rest, {
      kind: 'reclaim',
      action: ACTION,
      validity: 'resting',
      takes: null,
      warnings: [],
      changes: {},
    })
  })

  it('of an order that was sent, waits for the oracle or has ended is refused', () => {
    for (const status of ['pending', 'filled', 'rejected', 'canceled', 'expired'] as const) {
      const details = refusalOf(() => planCancelOrder(orderOf({ status, unanswered: [1] })), 'ORDER_NOT_MODIFIABLE')
      assert.deepEqual(details, { id: '9', status })
    }
  })
})
