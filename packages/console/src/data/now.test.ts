import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createServiceClock } from './now.ts'

/** A machine whose clock is `offMs` ahead of the service, and a service that takes `tripMs` for each answer. */
function createWorld(offMs: number) {
  const world = { trueMs: 1_790_000_000_000, offMs, tripMs: 40, asked: 0, isDown: false }
  const clock = createServiceClock(
    () => world.trueMs + world.offMs,
    () => world.trueMs - 1_700_000_000_000,
  )
  const service = {
    async time() {
      world.asked += 1
      if (world.isDown) throw new Error('fetch failed')
      world.trueMs += world.tripMs / 2
      const answer = world.trueMs
      world.trueMs += world.tripMs / 2
      return answer
    },
  }
  return { world, clock, service }
}

describe('the clock of the service', () => {
  for (const offMs of [-60_000, 0, 60_000]) {
    it(`is told by a machine that is ${offMs} ms off`, async () => {
      const { world, clock, service } = createWorld(offMs)
      await clock.measure(service)
      assert.equal(clock.offMs.value, offMs)
      world.trueMs += 5_000
      assert.equal(clock.now(), world.trueMs)
    })
  }

  it('is taken from the fastest answer', async () => {
    const { world, clock, service } = createWorld(60_000)
    await clock.measure(service)
    const before = clock.now() - world.trueMs
    world.tripMs = 4_000
    // All of the delay on the way there: a slow answer would be off by half of it.
    await clock.measure({ time: async () => service.time().then((ms) => ms - 2_000) })
    assert.equal(clock.now() - world.trueMs, before)
  })

  it('is measured again once the clock of the machine was set', async () => {
    const { world, clock, service } = createWorld(60_000)
    await clock.ensure(service)
    await clock.ensure(service)
    assert.equal(world.asked, 1)
    world.offMs = 0
    await clock.ensure(service)
    assert.deepEqual([world.asked, clock.offMs.value], [2, 0])
  })

  it('stays as it was while the service does not answer', async () => {
    const { world, clock, service } = createWorld(60_000)
    await clock.measure(service)
    world.isDown = true
    await assert.rejects(clock.measure(service))
    world.offMs = 0
    await clock.ensure(service)
    assert.equal(clock.offMs.value, 60_000)
  })
})
