import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createCoalescer, type Coalescer } from './coalesce.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

/** Returns a coalescer whose clock moves by `costMs` with every item, and the items it has processed. */
function coalescerWithCost(costMs: number): { readonly coalescer: Coalescer<number>; readonly seen: number[] } {
  const seen: number[] = []
  let nowMs = 0
  const coalescer = createCoalescer<number>(
    (item) => {
      nowMs += costMs
      seen.push(item)
    },
    () => nowMs,
  )
  return { coalescer, seen }
}

describe('coalesce', () => {
  it('processes items at once while that is quick', () => {
    const { coalescer, seen } = coalescerWithCost(0)
    coalescer.add(Array.from({ length: 10 }, (_, at) => at))
    equal(seen.length, 10)
  })

  it('takes breaks when it is slow, keeps the order, and processes an item once for several requests', () => {
    const { coalescer, seen } = coalescerWithCost(2)
    const items = [0, 1, 2]
    coalescer.add(items)
    deepEqual(seen, [0])
    coalescer.add(items)
    coalescer.add(items)
    deepEqual(seen, [0])
    mock.timers.tick(9)
    deepEqual(seen, [0], 'the break is 10 ms')
    for (let times = 0; times < 10; times += 1) mock.timers.tick(10)
    deepEqual(seen, [0, 1, 2, 0])
  })

  it('takes a break as long as the slice when that was long', () => {
    const { coalescer, seen } = coalescerWithCost(50)
    coalescer.add([1, 2])
    mock.timers.tick(49)
    deepEqual(seen, [1])
    mock.timers.tick(1)
    deepEqual(seen, [1, 2])
  })

  it('ends when it is closed', () => {
    const { coalescer, seen } = coalescerWithCost(2)
    coalescer.add([1, 2, 3])
    coalescer.close()
    mock.timers.tick(1_000)
    deepEqual(seen, [1])
  })
})
