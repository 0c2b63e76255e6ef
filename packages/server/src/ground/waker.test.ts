import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWaker } from './waker.ts'

const LONG_MS = 60_000

describe('a waker', () => {
  it('ends the sleep that is under way', async () => {
    const waker = createWaker()
    const asleep = waker.sleep(LONG_MS)
    waker.wake()
    await asleep
  })

  it('does not lose a wake that comes before the sleep', async () => {
    const waker = createWaker()
    waker.wake()
    await waker.sleep(LONG_MS)
    let isAwake = false
    const next = waker.sleep(30).then(() => (isAwake = true))
    await Promise.resolve()
    assert.equal(isAwake, false, 'but it counts once')
    await next
  })

  it('does not cut a pause short', async () => {
    const waker = createWaker()
    const startMs = performance.now()
    const pause = waker.pause(30)
    waker.wake()
    await pause
    assert.ok(performance.now() - startMs >= 25)
  })

  it('ends everything when it is closed', async () => {
    const waker = createWaker()
    const pause = waker.pause(LONG_MS)
    waker.close()
    await pause
    await waker.sleep(LONG_MS)
    await waker.pause(LONG_MS)
  })
})
