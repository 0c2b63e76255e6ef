import { ORDER_STATUSES, type OrderStatus } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextStatus, ORDER_TRANSITIONS, type OrderCause } from './orderTransitions.ts'

describe('the table of transitions', () => {
  it('knows every status, and reaches every one', () => {
    assert.deepEqual(new Set(Object.keys(ORDER_TRANSITIONS)), new Set(['absent', ...ORDER_STATUSES]))
    const reached = new Set(Object.values(ORDER_TRANSITIONS).flatMap((moves) => Object.values(moves)))
    assert.deepEqual(reached, new Set<OrderStatus>(ORDER_STATUSES))
  })

  it('lets nothing move a filled order', () => {
    assert.deepEqual(ORDER_TRANSITIONS.filled, {})
  })

  it('lets only the chain revive what ended', () => {
    const ended: readonly OrderStatus[] = ['rejected', 'canceled']
    const ours: readonly OrderCause[] = ['prepared', 'reported', 'mismatched', 'unseen', 'lapsed', 'timedOut']
    for (const status of ended) for (const cause of ours) assert.equal(nextStatus(status, cause), undefined)
  })

  it('lets an order that rests neither lapse nor time out', () => {
    for (const cause of ['lapsed', 'timedOut', 'reverted', 'refused'] as const) {
      assert.equal(nextStatus('open', cause), undefined)
    }
  })

  it('revives an expired order by whatever brings it to the chain', () => {
    assert.equal(nextStatus('expired', 'requested'), 'pending')
    assert.equal(nextStatus('expired', 'placed'), 'open')
    assert.equal(nextStatus('expired', 'prepared'), 'prepared')
  })
})
