import { StoreUnavailableError } from './unavailable.ts'
import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { startRounds } from './rounds.ts'

beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
afterEach(() => mock.timers.reset())

describe('rounds', () => {
  it('come again, never two at once, and the last one is waited for', async () => {
    const ends: (() => void)[] = []
    const round = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
    const rounds = startRounds({ everyMs: 10, round, onError: () => undefined })
    equal(ends.length, 0)
    mock.timers.tick(35)
    equal(ends.length, 1)
    ends[0]!()
    await nextTick()
    mock.timers.tick(10)
    equal(ends.length, 2)
    let isClosed = false
    const closed = rounds.close().then(() => (isClosed = true))
    await nextTick()
    equal(isClosed, false)
    ends[1]!()
    await closed
    mock.timers.tick(100)
    equal(ends.length, 2)
  })

  it('go on after an error, and say nothing of a store that is away', async () => {
    const errors = [new Error('a bug'), new StoreUnavailableError('full')]
    const told: unknown[] = []
    const round = async (): Promise<void> => {
      const error = errors.shift()
      if (error !== undefined) throw error
    }
    const rounds = startRounds({ everyMs: 10, isAtOnce: true, round, onError: (error) => told.push(error) })
    await nextTick()
    for (let times = 0; times < 2; times += 1) {
      mock.timers.tick(10)
      await nextTick()
    }
    deepEqual([errors.length, told.map(String)], [0, ['Error: a bug']])
    await rounds.close()
  })
})
