import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createInterruptibleSleep } from './interruptibleSleep.ts'

const LONG_MS = 60_000

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

/** Returns true when a promise is settled after everything that is ready has run. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await nextTick()
  return settled
}

describe('an interruptible sleep', () => {
  it('lasts as long as it was asked to', async () => {
    const sleeper = createInterruptibleSleep()
    const asleep = sleeper.sleep(30)
    mock.timers.tick(29)
    assert.equal(await isSettled(asleep), false)
    mock.timers.tick(1)
    await asleep
  })

  it('ends when it is woken', async () => {
    const sleeper = createInterruptibleSleep()
    const asleep = sleeper.sleep(LONG_MS)
    sleeper.wake()
    await asleep
  })

  it('does not lose a wake-up that comes before the sleep', async () => {
    const sleeper = createInterruptibleSleep()
    sleeper.wake()
    await sleeper.sleep(LONG_MS)
    const next = sleeper.sleep(30)
    assert.equal(await isSettled(next), false, 'but it counts once')
    mock.timers.tick(30)
    await next
  })

  it('is not cut short by a wake-up when it is a pause', async () => {
    const sleeper = createInterruptibleSleep()
    const pause = sleeper.pause(30)
    sleeper.wake()
    mock.timers.tick(29)
    assert.equal(await isSettled(pause), false)
    mock.timers.tick(1)
    await pause
  })

  it('ends for good when it is closed', async () => {
    const sleeper = createInterruptibleSleep()
    const pause = sleeper.pause(LONG_MS)
    sleeper.close()
    await pause
    await sleeper.sleep(LONG_MS)
    await sleeper.pause(LONG_MS)
  })
})
