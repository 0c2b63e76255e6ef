import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, LogChannel } from '@bezel/protocol'
import { createSnapshotTaker, takeSnapshot } from './logSnapshots.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address
const settled = async (): Promise<void> => {}

/**
 * Takes a snapshot of a log that grows by these numbers of events during the attempts. The snapshot is the number of
 * its events.
 */
async function takeWhile(growth: readonly number[]): Promise<{ seq: number; data: string; tries: number }> {
  let lastSeq = 7
  let tries = 0
  const snapshot = await takeSnapshot({ lastSeq: async () => lastSeq, settled }, TRADER, async () => {
    const data = String(lastSeq)
    lastSeq += growth[tries] ?? 0
    tries += 1
    return data
  })
  return { ...snapshot, tries }
}

describe('takeSnapshot', () => {
  it('gives the last seq when nothing happens meanwhile', async () => {
    assert.deepEqual(await takeWhile([]), { seq: 7, data: '7', tries: 1 })
  })

  it('is made again while events come in between', async () => {
    assert.deepEqual(await takeWhile([2]), { seq: 9, data: '9', tries: 2 })
    assert.deepEqual(await takeWhile([2, 1]), { seq: 10, data: '10', tries: 3 })
  })

  it('gives a seq that it certainly holds when they do not stop', async () => {
    assert.deepEqual(await takeWhile([2, 1, 5, 5]), { seq: 10, data: '10', tries: 3 })
  })

  it('lets memory follow a commit before it looks', async () => {
    let inMemory = 0
    const log = { lastSeq: async () => 1, settled: async () => void (inMemory = 1) }
    assert.deepEqual(await takeSnapshot(log, TRADER, async () => String(inMemory)), { seq: 1, data: '1' })
  })
})

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
    let nowMs = 0
    const take = createSnapshotTaker({ lastSeq: async () => lastSeq, settled }, snapshots, () => nowMs)
    for (let times = 0; times < 3; times += 1)
      for (const channel of ['orders', 'fills'] as const) await take(channel, TRADER)
    assert.deepEqual(made, ['orders', 'fills'])
    lastSeq += 1
    assert.deepEqual([(await take('fills', TRADER)).seq, made.length], [8, 3])
    await take('fills', `0x${'2'.repeat(40)}` as Address)
    for (let times = 0; times < 2; times += 1) await take('positions', TRADER)
    assert.deepEqual(made.slice(3), ['fills', 'positions', 'positions'])
    nowMs += 1_000
    await take('fills', TRADER)
    assert.deepEqual(made.slice(6), ['fills'], 'none is reused after a second')
  })
})
