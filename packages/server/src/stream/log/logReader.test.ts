import type { LoggedEvent } from '../../store/accountEventStore.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { createLogReader, type LogReader, type LogTarget } from './logReader.ts'
import { createTimeSliced } from '../../ground/timeSliced.ts'

const TRADER = `0x${'1'.repeat(40)}` as Address

interface Target extends LogTarget {
  readonly seen: number[]
}

/** Creates a target that records the sequence numbers it receives. */
function target(after: number): Target {
  const seen: number[] = []
  return {
    channel: 'orders',
    after,
    seen,
    prepare: () => {},
    take: (frame) => void seen.push(Number(frame.toString())),
  }
}

/** Creates a reader of a log with this many events, whose reads wait for `answer`. */
function readerOf(
  events: { count: number },
  onError: (error: unknown) => void = (error) => assert.fail(String(error)),
) {
  const asked: (() => void)[] = []
  let failures = 0
  const reader: LogReader = createLogReader({
    trader: TRADER,
    turns: createTimeSliced(),
    onError,
    frameOf: ({ seq }) => Buffer.from(String(seq)),
    log: {
      async read(_trader, { after, limit }) {
        await new Promise<void>((resolve) => asked.push(resolve))
        if (failures-- > 0) throw new Error('away')
        const count = Math.min(limit, events.count - after)
        return Array.from({ length: count }, (_, at) => eventOf(after + 1 + at))
      },
    },
  })
  const answer = async (): Promise<void> => {
    await until('a read', () => asked.length > 0)
    asked.shift()!()
    for (let tick = 0; tick < 5; tick += 1) await nextTick()
  }
  return { reader, answer, asked, fail: (times: number) => (failures = times) }
}

function eventOf(seq: number): LoggedEvent {
  return { seq, channel: 'orders', timestampMs: 0, block: null, isReverted: false, data: '{}' }
}

describe('the shared reader of a log', () => {
  it('lets a target join at the end of the log, and others wherever it has not been yet', async () => {
    const events = { count: 3 }
    const { reader, answer } = readerOf(events)
    assert.deepEqual([reader.canJoin(1, false), reader.canJoin(1, true)], [false, true])
    const first = target(1)
    reader.join(first)
    await answer()
    assert.deepEqual(first.seen, [2, 3])
    assert.deepEqual([reader.canJoin(2, true), reader.canJoin(3, false)], [false, true])
  })

  it('throws a page away that was read for somebody who left', async () => {
    const events = { count: 5 }
    const { reader, answer } = readerOf(events)
    const gone = target(4)
    reader.join(gone)
    await until('a read', () => true)
    reader.leave(gone)
    const next = target(2)
    reader.join(next)
    await answer()
    await answer()
    assert.deepEqual([gone.seen, next.seen], [[], [3, 4, 5]])
  })

  it('reads again when it was woken while it read', async () => {
    const events = { count: 1 }
    const { reader, answer, asked } = readerOf(events)
    const one = target(0)
    reader.join(one)
    await until('a read', () => asked.length === 1)
    reader.wake()
    await answer()
    events.count = 2
    await answer()
    assert.deepEqual(one.seen, [1, 2])
  })

  it('has the last page at hand for those who catch up, until something is appended', async () => {
    const { reader, answer, asked } = readerOf({ count: 150 })
    const first = reader.page(0)
    await answer()
    await answer()
    assert.deepEqual([(await first).events.length, (await first).isLast], [100, false])
    assert.equal(await reader.page(0), await first)
    reader.wake()
    const again = reader.page(0)
    await until('a read', () => asked.length === 1)
    await answer()
    await answer()
    assert.notEqual(await again, await first)
    const last = reader.page(100)
    await answer()
    await answer()
    assert.deepEqual([(await last).events.length, (await last).isLast], [50, true])
  })

  it('reads nothing while nobody listens', async () => {
    const { reader, asked } = readerOf({ count: 5 })
    reader.wake()
    for (let tick = 0; tick < 5; tick += 1) await nextTick()
    assert.equal(asked.length, 0)
  })

  it('asks a store again that could not be read', async () => {
    const errors: unknown[] = []
    const { reader, answer, fail } = readerOf({ count: 2 }, (error) => errors.push(error))
    fail(1)
    const one = target(0)
    reader.join(one)
    await answer()
    assert.deepEqual([errors.length, one.seen], [1, []])
    await answer()
    assert.deepEqual(one.seen, [1, 2])
  })
})
