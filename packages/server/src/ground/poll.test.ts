import { equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { poll } from './poll.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

async function tick(ms: number): Promise<void> {
  mock.timers.tick(ms)
  await nextTick()
}

describe('poll', () => {
  it('runs at once, and again after the pause that each run returned', async () => {
    let count = 0
    const polling = poll(async () => (count += 1) * 10)
    equal(count, 1)
    await nextTick()
    await tick(9)
    equal(count, 1)
    await tick(1)
    equal(count, 2)
    await tick(19)
    equal(count, 2)
    await tick(1)
    equal(count, 3)
    polling.close()
    await tick(1_000)
    equal(count, 3)
  })

  it('counts the pause from the end of a run, and the first one from the start', async () => {
    const ends: (() => void)[] = []
    const polling = poll(() => new Promise((resolve) => ends.push(() => resolve(10))), 5)
    equal(ends.length, 0)
    await tick(5)
    equal(ends.length, 1)
    await tick(1_000)
    equal(ends.length, 1)
    ends[0]!()
    await nextTick()
    await tick(10)
    equal(ends.length, 2)
    polling.close()
    ends[1]!()
    await nextTick()
    await tick(1_000)
    equal(ends.length, 2, 'nothing begins after it was closed')
  })
})
