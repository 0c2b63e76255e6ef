import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, LogChannel } from '@bezel/protocol'
import { createSnapshotTaker } from './snapshotTaker.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address

describe('snapshots', () => {
  it('of orders and fills are made once for those who come at the same time, until the log goes on', async () => {
    let lastSeq = 7
    const made: LogChannel[] = []
    const make = (channel: LogChannel) => async () => (made.push(channel), String(made.length))
    const snapshots = {
      orders: make('orders'),
      fills: make('fills'),
      positions: make('positions'),
      account: make('account'),
    }
    const take = createSnapshotTaker({ lastSeq: async () => lastSeq }, snapshots)
    for (let times = 0; times < 3; times += 1)
      for (const channel of ['orders', 'fills'] as const) await take(channel, TRADER)
    assert.deepEqual(made, ['orders', 'fills'])
    lastSeq += 1
    assert.deepEqual([(await take('fills', TRADER)).seq, made.length], [8, 3])
    await take('fills', `0x${'2'.repeat(40)}` as Address)
    for (let times = 0; times < 2; times += 1) await take('positions', TRADER)
    assert.deepEqual(made.slice(3), ['fills', 'positions', 'positions'])
  })
})
