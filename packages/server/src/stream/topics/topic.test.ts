import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import fc from 'fast-check'
import type { Connection } from '../channel.ts'
import { createTopic } from './topic.ts'

/** A client that takes every message offered to it while it reads. */
interface Reader {
  readonly told: string[]
  isReading: boolean
  readAgain(): void
  readonly connection: Pick<Connection, 'offer' | 'onDrain'>
}

function createReader(): Reader {
  const told: string[] = []
  const drains: (() => void)[] = []
  const reader: Reader = {
    told,
    isReading: true,
    readAgain() {
      reader.isReading = true
      for (const drained of drains.splice(0)) drained()
    },
    connection: {
      offer(frame) {
        if (reader.isReading) told.push(frame.subarray(2).toString())
        return reader.isReading
      },
      onDrain: (listener) => void drains.push(listener),
    },
  }
  return reader
}

/** Creates a topic whose state is a number. */
function createCounter() {
  const counts = { subscriptions: 0, sent: 0, snapshots: 0 }
  const topic = createTopic({
    counts,
    snapshot() {
      if (!counter.isReady) throw new ApiError('NOT_READY', 'not now')
      return `=${counter.value}`
    },
  })
  const counter = {
    value: 0,
    isReady: true,
    counts,
    topic,
    next(): void {
      counter.value += 1
      topic.publish(`+${counter.value}`)
    },
  }
  return counter
}

describe('a topic', () => {
  it('gives a reader that fell behind one snapshot, and then deltas again', () => {
    const counter = createCounter()
    const reader = createReader()
    counter.topic.subscribe(reader.connection).start()
    counter.next()
    reader.isReading = false
    counter.next()
    counter.next()
    reader.readAgain()
    counter.next()
    deepEqual(reader.told, ['=0', '+1', '=3', '+4'])
    deepEqual(counter.counts, { subscriptions: 0, sent: 4, snapshots: 1 })
  })

  it('waits for the next change when there is no snapshot to be had', () => {
    const counter = createCounter()
    const reader = createReader()
    counter.topic.subscribe(reader.connection).start()
    reader.isReading = false
    counter.next()
    counter.isReady = false
    reader.readAgain()
    counter.next()
    deepEqual(reader.told, ['=0'])
    counter.isReady = true
    counter.next()
    deepEqual(reader.told, ['=0', '=3'])
  })

  it('says nothing to who has left, also when it was behind', () => {
    const counter = createCounter()
    const reader = createReader()
    let closed = 0
    const subscription = counter.topic.subscribe(reader.connection, () => (closed += 1))
    subscription.start()
    reader.isReading = false
    counter.next()
    subscription.close()
    reader.readAgain()
    counter.next()
    deepEqual(reader.told, ['=0'])
    equal(closed, 1)
    equal(counter.topic.isWanted(), false)
  })

  it('never shows a reader a wrong picture, however it reads', () => {
    const step = fc.constantFrom('next', 'stop', 'read', 'ready', 'unready')
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const counter = createCounter()
        const reader = createReader()
        counter.topic.subscribe(reader.connection).start()
        for (const what of steps) {
          if (what === 'next') counter.next()
          if (what === 'stop') reader.isReading = false
          if (what === 'read') reader.readAgain()
          if (what === 'ready' || what === 'unready') counter.isReady = what === 'ready'
        }
        counter.isReady = true
        reader.readAgain()
        counter.next()
        let at = Number.NaN
        for (const text of reader.told) {
          if (text.startsWith('=')) at = Number(text.slice(1))
          else equal(Number(text), ++at, reader.told.join(' '))
        }
        equal(at, counter.value)
      }),
    )
  })
})
