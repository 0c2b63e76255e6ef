import { equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { createThrottle } from './throttle.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 }))
afterEach(() => mock.timers.reset())

describe('throttle', () => {
  it('works at once, and then once for all requests of an interval', () => {
    let count = 0
    const throttle = createThrottle(100, () => (count += 1), Date.now)
    throttle.ask()
    equal(count, 1)
    mock.timers.tick(40)
    throttle.ask()
    throttle.ask()
    equal(count, 1)
    mock.timers.tick(59)
    equal(count, 1)
    mock.timers.tick(1)
    equal(count, 2)
    mock.timers.tick(1_000)
    equal(count, 2, 'nobody asked')
    throttle.ask()
    equal(count, 3)
  })

  it('does nothing any more after it was closed', () => {
    let count = 0
    const throttle = createThrottle(100, () => (count += 1), Date.now)
    throttle.ask()
    throttle.ask()
    throttle.close()
    mock.timers.tick(1_000)
    equal(count, 1)
  })
})
