import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { createOverloadGuard, OVERLOAD_TICK_MS, type OverloadGuard } from './overload.ts'

interface Loop {
  readonly guard: OverloadGuard
  /** Lets looks pass, with anonymous requests before each. Default: a flood. */
  run(ticks: number, busy: number, lateMs: number, askedPerTick?: number): void
}

/** Number of anonymous requests between two looks that make a flood. */
const FLOOD = 64

/** Creates a process whose event loop the test drives. */
function createLoop(): Loop {
  let nowMs = 0
  const times = { active: 0, idle: 0 }
  const guard = createOverloadGuard({
    maxUtilisation: 0.95,
    maxWaitMs: 50,
    now: () => nowMs,
    loopTimes: () => ({ ...times }),
  })
  return {
    guard,
    run(ticks, busy, lateMs, askedPerTick = FLOOD) {
      for (let i = 0; i < ticks; i += 1) {
        answered(guard, askedPerTick)
        const passedMs = OVERLOAD_TICK_MS + lateMs
        nowMs += passedMs
        times.active += passedMs * busy
        times.idle += passedMs * (1 - busy)
        guard.tick()
      }
    },
  }
}

/** Returns how many of a number of anonymous requests are answered. */
function answered(guard: OverloadGuard, requests: number): number {
  let count = 0
  for (let i = 0; i < requests; i += 1) {
    try {
      guard.admit()
      count += 1
    } catch (error) {
      assert.ok(error instanceof ApiError)
      assert.deepEqual([error.code, error.status, error.details], ['NOT_READY', 503, { reason: 'overloaded' }])
    }
  }
  return count
}

describe('the overload guard', () => {
  it('answers everybody while the process has time left', () => {
    const { guard, run } = createLoop()
    run(40, 0.9, 0)
    assert.equal(answered(guard, 1_000), 1_000)
  })

  it('answers everybody while a busy process lets nobody wait, and while an idle one is kept waiting', () => {
    const busy = createLoop()
    busy.run(40, 1, 10)
    assert.equal(answered(busy.guard, 1_000), 1_000)
    const starved = createLoop()
    starved.run(40, 0.5, 500)
    assert.equal(answered(starved.guard, 1_000), 1_000)
  })

  it('sheds more and more while the process is busy and requests wait, and never all', () => {
    const { guard, run } = createLoop()
    run(1, 1, 100)
    run(1, 1, 100)
    const first = answered(guard, 1_024)
    assert.ok(first < 1_024, `${first}`)
    run(20, 1, 100)
    assert.equal(answered(guard, 1_024), 16)
  })

  it('answers more and more once there is time again, and everybody once the flood is over', () => {
    const { guard, run } = createLoop()
    run(20, 1, 100)
    run(10, 0.3, 0)
    const soon = answered(guard, 1_000)
    assert.ok(soon > 16 && soon < 1_000, `${soon}`)
    run(40, 0.3, 0)
    assert.equal(answered(guard, 1_000), 1_000)
    run(20, 1, 100)
    run(8, 1, 100, 1)
    assert.equal(answered(guard, 1_000), 1_000)
  })

  it('answers the few who ask a process that is busy with its own start', () => {
    const { guard, run } = createLoop()
    run(40, 1, 500, 0)
    assert.equal(answered(guard, 16), 16)
    run(40, 1, 500, 2)
    assert.equal(answered(guard, 16), 16)
  })
})
