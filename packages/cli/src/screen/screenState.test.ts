import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogEvent, Order } from '@bezel/sdk'
import { withEvent, withLogged, withStatus, type ScreenState } from './screenState.ts'
import { NOW_MS, ORDER, POSITION, priceOf, SAMPLE_SCREEN } from './testing/sampleScreen.ts'

const ENTRY = { seq: 20, timestamp: NOW_MS, block: null, reverted: false } as const

const orderChange = (data: Order, seq = 20): LogEvent => ({ ...ENTRY, seq, channel: 'orders', snapshot: false, data })
const idsOf = ({ orders }: ScreenState): readonly string[] => orders!.map(({ id }) => id)

describe('the state of the screen', () => {
  it('follows orders by their ids: new ones first, those that are over leave', () => {
    const two = withEvent(SAMPLE_SCREEN, orderChange({ ...ORDER, id: '9', status: 'prepared' }))
    assert.deepEqual(idsOf(two), ['9', '1044'])
    const changed = withEvent(two, orderChange({ ...ORDER, price: '4300' }, 21))
    assert.deepEqual([idsOf(changed), changed.orders![1]!.price], [['9', '1044'], '4300'])
    assert.deepEqual(idsOf(withEvent(changed, orderChange({ ...ORDER, status: 'timed_out' }, 22))), ['9', '1044'])
    for (const status of ['filled', 'rejected', 'canceled', 'expired'] as const) {
      assert.deepEqual(idsOf(withEvent(changed, orderChange({ ...ORDER, status }, 22))), ['9'])
      assert.deepEqual(idsOf(withEvent(changed, orderChange({ ...ORDER, id: '5', status }, 22))), ['9', '1044'])
    }
  })

  it('takes snapshots for the whole, and does not log them', () => {
    const told = withEvent(SAMPLE_SCREEN, { ...ENTRY, channel: 'orders', snapshot: true, data: [] })
    assert.deepEqual([told.orders, told.log.length], [[], 2])
    const positions = withEvent(told, { ...ENTRY, channel: 'positions', snapshot: true, data: [POSITION, POSITION] })
    assert.equal(positions.positions!.length, 2)
    const fills = withEvent(told, { ...ENTRY, channel: 'fills', snapshot: true, data: [ORDER] })
    assert.equal(fills.log.length, 2)
  })

  it('keeps the log in order and each event once, however the channels tell it', () => {
    const later = withEvent(SAMPLE_SCREEN, orderChange(ORDER, 11))
    const both = withEvent(later, { ...ENTRY, seq: 10, channel: 'positions', snapshot: false, data: [] })
    const again = withLogged(both, [...both.log])
    assert.deepEqual(
      again.log.map(({ seq }) => seq),
      [7, 8, 10, 11],
    )
    const long = Array.from({ length: 300 }, (_, place) => ({ ...both.log[0]!, seq: 100 + place }))
    assert.deepEqual([withLogged(both, long).log.length, withLogged(both, long).log.at(-1)!.seq], [200, 399])
  })

  it('merges prices, and replaces them by a snapshot', () => {
    const event = { channel: 'prices', seq: 1, data: [priceOf('BTC/USD', '61000')] } as const
    const merged = withEvent(SAMPLE_SCREEN, { ...event, snapshot: false })
    assert.deepEqual(
      [...merged.prices.values()].map(({ mark }) => mark),
      ['61000', '4100.5'],
    )
    assert.deepEqual([...withEvent(merged, { ...event, snapshot: true }).prices.keys()], ['BTC/USD'])
  })

  it('remembers why the connection was lost until it is back', () => {
    const lost = withStatus(SAMPLE_SCREEN, { state: 'waiting', reason: 'gone', retryInMs: 2000, attempt: 1 })
    assert.deepEqual(lost.connection, { state: 'waiting', reason: 'gone', untilMs: NOW_MS + 2000 })
    assert.equal(withStatus(lost, { state: 'connecting', attempt: 2 }).connection.state, 'waiting')
    assert.equal(withStatus(lost, { state: 'open' }).connection.state, 'open')
    assert.equal(withStatus(SAMPLE_SCREEN, { state: 'connecting', attempt: 1 }).connection.state, 'connecting')
  })
})
