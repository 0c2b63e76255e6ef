import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { every } from './every.ts'
import { StoreUnavailableError } from './unavailable.ts'

beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
afterEach(() => mock.timers.reset())

describe('every', () => {
  it('repeats the work, never two runs at once, and waits for the last one', async () => {
    const ends: (() => void)[] = []
    const work = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
    const repetition = every(10, work)
    equal(ends.length, 0)
    mock.timers.tick(35)
    equal(ends.length, 1)
    ends[0]!()
    await nextTick()
    mock.timers.tick(10)
    equal(ends.length, 2)
    let isClosed = false
    const closed = repetition.close().then(() => (isClosed = true))
    await nextTick()
    equal(isClosed, false)
    ends[1]!()
    await closed
    mock.timers.tick(100)
    equal(ends.length, 2)
  })

  it('goes on after an error, and says nothing of a store that is away', async () => {
    const errors = [new Error('a bug'), new StoreUnavailableError('full')]
    const told: unknown[] = []
    const work = async (): Promise<void> => {
      const error = errors.shift()
      if (error !== undefined) throw error
    }
    const repetition = every(10, work, { isAtOnce: true, onError: (error) => told.push(error) })
    await nextTick()
    for (let times = 0; times < 2; times += 1) {
      mock.timers.tick(10)
      await nextTick()
    }
    deepEqual([errors.length, told.map(String)], [0, ['Error: a bug']])
    await repetition.close()
  })

  it('takes work that is no promise', async () => {
    let count = 0
    const repetition = every(10, () => void (count += 1))
    for (let times = 0; times < 3; times += 1) {
      mock.timers.tick(10)
      await nextTick()
    }
    equal(count, 3)
    await repetition.close()
  })
})
