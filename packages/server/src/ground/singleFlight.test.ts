import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createSingleFlight, type SingleFlight } from './singleFlight.ts'
import { NodeUnavailableError } from './unavailable.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

interface Runs {
  readonly flight: SingleFlight
  /** Functions that end one run each, with an error or without. */
  readonly ends: ((error?: Error) => void)[]
  readonly errors: string[]
  isOver: boolean
}

function startRuns(): Runs {
  const runs: Runs = {
    ends: [],
    errors: [],
    isOver: false,
    flight: createSingleFlight({
      work() {
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        runs.ends.push((error) => (error === undefined ? resolve() : reject(error)))
        return promise
      },
      isOver: () => runs.isOver,
      onError: (error) => runs.errors.push(String(error)),
    }),
  }
  return runs
}

describe('single flight', () => {
  it('runs once more for all who ask during a run', async () => {
    const { flight, ends } = startRuns()
    flight.ask()
    flight.ask()
    flight.ask()
    equal(ends.length, 1)
    ends[0]!()
    await nextTick()
    equal(ends.length, 2)
    ends[1]!()
    await nextTick()
    equal(ends.length, 2)
    flight.ask()
    equal(ends.length, 3)
  })

  it('tries failed work again after a second, and says nothing of what passes by itself', async () => {
    const { flight, ends, errors } = startRuns()
    flight.ask()
    for (const error of [new Error('a bug'), new NodeUnavailableError('away')]) {
      ends.at(-1)!(error)
      await nextTick()
      const before = ends.length
      mock.timers.tick(999)
      await nextTick()
      equal(ends.length, before)
      mock.timers.tick(1)
      await nextTick()
      equal(ends.length, before + 1)
    }
    deepEqual(errors, ['Error: a bug'])
  })

  it('ends when nobody wants it any more', async () => {
    const runs = startRuns()
    runs.flight.ask()
    runs.flight.ask()
    runs.isOver = true
    runs.ends[0]!()
    await nextTick()
    equal(runs.ends.length, 1)
  })
})
