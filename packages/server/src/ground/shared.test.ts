import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createShared } from './shared.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

const open = (key: string): { readonly key: string } => ({ key })
const keysOf = (shared: { items(): Iterable<{ readonly key: string }> }): string[] =>
  [...shared.items()].map(({ key }) => key)

describe('what is shared', () => {
  it('is opened for the first and dropped after the last', () => {
    const shared = createShared(open)
    const item = shared.hold('a')
    equal(shared.hold('a'), item)
    shared.release('a')
    equal(shared.get('a'), item)
    shared.release('a')
    equal(shared.get('a'), undefined)
  })

  it('is kept for a while after the last, when that was asked for', () => {
    const shared = createShared(open, { keptMs: 1_000, maxKept: 10 })
    const item = shared.hold('a')
    shared.release('a')
    mock.timers.tick(900)
    equal(shared.hold('a'), item)
    mock.timers.tick(5_000)
    equal(shared.get('a'), item, 'somebody holds it again')
    shared.release('a')
    mock.timers.tick(900)
    equal(shared.get('a'), item)
    mock.timers.tick(200)
    notEqual(shared.hold('a'), item)
  })

  it('is kept in a number that is bounded, and not when it is of no use', () => {
    const shared = createShared(open, { keptMs: 1_000, maxKept: 2 })
    for (const key of ['a', 'b', 'c', 'held', 'bad']) shared.hold(key)
    for (const key of ['a', 'b', 'c']) shared.release(key)
    shared.discard('bad')
    deepEqual(keysOf(shared), ['b', 'c', 'held'])
    shared.dropKept()
    deepEqual(keysOf(shared), ['held'])
  })
})
