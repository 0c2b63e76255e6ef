import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogEvent } from '@bezel/sdk'
import { createAccountState } from './accountState.ts'
import { filled, sampleAccount, sampleOrder, samplePosition } from './testing/samples.ts'

const event = (seq: number, of: Partial<LogEvent>): LogEvent =>
  ({ seq, timestamp: seq * 1_000, block: null, reverted: false, snapshot: false, ...of }) as LogEvent

describe('the state of an account', () => {
  it('is unknown until its snapshots are there', () => {
    const state = createAccountState()
    assert.deepEqual([state.account.value, state.positions.value, state.openOrders.value], [null, null, null])
    state.take(event(1, { channel: 'orders', snapshot: true, data: [] }))
    state.take(event(1, { channel: 'positions', snapshot: true, data: [samplePosition('13')] }))
    state.take(event(1, { channel: 'account', snapshot: true, data: sampleAccount() }))
    assert.deepEqual(state.openOrders.value, [])
    assert.equal(state.positions.value?.length, 1)
    assert.deepEqual(state.account.value, sampleAccount())
    assert.deepEqual(state.events.value, [])
  })

  it('follows an order from open to ended, and keeps it among the recent ones', () => {
    const state = createAccountState()
    state.take(event(1, { channel: 'orders', snapshot: true, data: [sampleOrder()] }))
    state.take(event(2, { channel: 'orders', data: sampleOrder({ id: '14', createdAt: 2_000 }) }))
    assert.deepEqual(
      state.openOrders.value?.map(({ id }) => id),
      ['14', '12'],
    )
    state.take(event(3, { channel: 'orders', data: sampleOrder(filled(3_000)) }))
    assert.deepEqual(
      state.openOrders.value?.map(({ id }) => id),
      ['14'],
    )
    assert.deepEqual(
      state.recentOrders.value?.map(({ status }) => status),
      ['prepared', 'filled'],
    )
  })

  it('takes an order back that a reorganisation changed', () => {
    const state = createAccountState()
    state.take(event(1, { channel: 'orders', data: sampleOrder(filled(1_000)) }))
    state.take(event(2, { channel: 'orders', reverted: true, data: sampleOrder({ status: 'pending' }) }))
    assert.deepEqual(
      state.openOrders.value?.map(({ status }) => status),
      ['pending'],
    )
    assert.deepEqual(
      state.events.value.map(({ reverted }) => reverted),
      [false, true],
    )
  })

  it('never lets the past overwrite what the stream told', () => {
    const state = createAccountState()
    state.take(event(5, { channel: 'orders', data: sampleOrder(filled(5_000)) }))
    const { seq, ...old } = event(2, { channel: 'orders', data: sampleOrder({ status: 'pending', updatedAt: 2_000 }) })
    state.takePast({
      events: [{ seq, ...old } as never],
      orders: [sampleOrder(), sampleOrder({ id: '3', status: 'canceled' })],
    })
    assert.equal(state.recentOrders.value?.find(({ id }) => id === '12')?.status, 'filled')
    assert.ok(state.recentOrders.value?.some(({ id }) => id === '3'))
    assert.deepEqual(
      state.events.value.map((one) => one.seq),
      [2, 5],
    )
  })

  it('keeps the log in order, each event once, whichever channel is ahead', () => {
    const state = createAccountState()
    for (const seq of [3, 1, 2, 3]) state.take(event(seq, { channel: 'positions', data: [] }))
    assert.deepEqual(
      state.events.value.map(({ seq }) => seq),
      [1, 2, 3],
    )
  })

  it('stays bounded', () => {
    const state = createAccountState()
    for (let seq = 1; seq <= 700; seq += 1) {
      const order = sampleOrder({ id: String(seq), createdAt: seq, ...filled(seq) })
      state.take(event(seq, { channel: 'orders', data: order }))
    }
    assert.deepEqual([state.events.value.length, state.recentOrders.value?.length], [500, 200])
    assert.equal(state.recentOrders.value?.[0]?.id, '700')
  })

  it('drops an order that ended unseen, when a new snapshot does not name it', () => {
    const state = createAccountState()
    state.take(event(1, { channel: 'orders', snapshot: true, data: [sampleOrder()] }))
    state.take(event(9, { channel: 'orders', snapshot: true, data: [] }))
    assert.deepEqual(state.openOrders.value, [])
  })

  it('forgets everything of another account', () => {
    const state = createAccountState()
    state.take(event(1, { channel: 'orders', data: sampleOrder() }))
    state.clear()
    assert.deepEqual([state.openOrders.value, state.events.value], [null, []])
  })
})
