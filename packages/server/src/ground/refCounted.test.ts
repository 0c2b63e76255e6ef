import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createRefCounted } from './refCounted.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

const open = (key: string): { readonly key: string } => ({ key })
const keysOf = (counted: { items(): Iterable<{ readonly key: string }> }): string[] =>
  [...counted.items()].map(({ key }) => key)

describe('a reference-counted item', () => {
  it('is opened for the first and dropped after the last', () => {
    const counted = createRefCounted(open)
    const item = counted.hold('a')
    equal(counted.hold('a'), item)
    counted.release('a')
    equal(counted.get('a'), item)
    counted.release('a')
    equal(counted.get('a'), undefined)
  })

  it('is kept for a while after the last, when that was asked for', () => {
    const counted = createRefCounted(open, { keeping: { keptMs: 1_000, maxKept: 10 } })
    const item = counted.hold('a')
    counted.release('a')
    mock.timers.tick(900)
    equal(counted.hold('a'), item)
    mock.timers.tick(5_000)
    equal(counted.get('a'), item, 'somebody holds it again')
    counted.release('a')
    mock.timers.tick(900)
    equal(counted.get('a'), item)
    mock.timers.tick(200)
    notEqual(counted.hold('a'), item)
  })

  it('is kept in a number that is bounded, and not when it is of no use', () => {
    const dropped: string[] = []
    const counted = createRefCounted(open, {
      keeping: { keptMs: 1_000, maxKept: 2 },
      onDrop: ({ key }) => dropped.push(key),
    })
    for (const key of ['a', 'b', 'c', 'held', 'bad']) counted.hold(key)
    for (const key of ['a', 'b', 'c']) counted.release(key)
    counted.discard('bad')
    deepEqual(keysOf(counted), ['b', 'c', 'held'])
    counted.dropKept()
    deepEqual(keysOf(counted), ['held'])
    deepEqual(dropped, ['a', 'bad', 'b', 'c'])
  })
})
