import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPacer } from './talk.ts'

describe('a pacer', () => {
  it('runs what is within its rate at once, and the rest in order, a second later', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let nowMs = 0
    const ran: string[] = []
    const pacer = createPacer(3, () => nowMs)
    for (let at = 0; at < 8; at += 1) pacer.run(() => ran.push(`${at} at ${nowMs}`))
    assert.deepEqual(ran, ['0 at 0', '1 at 0', '2 at 0'])
    nowMs = 1_000
    t.mock.timers.tick(1_000)
    nowMs = 2_000
    t.mock.timers.tick(1_000)
    assert.deepEqual(ran.slice(3), ['3 at 1000', '4 at 1000', '5 at 1000', '6 at 2000', '7 at 2000'])
  })

  it('never lets more happen within any second, whenever they come', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let nowMs = 0
    const ranMs: number[] = []
    const pacer = createPacer(4, () => nowMs)
    for (let step = 0; step < 400; step += 1) {
      nowMs += 37
      t.mock.timers.tick(37)
      if (step % 3 !== 2) pacer.run(() => ranMs.push(nowMs))
    }
    assert.ok(ranMs.length > 50, `${ranMs.length} ran`)
    for (let at = 4; at < ranMs.length; at += 1) assert.ok(ranMs[at]! - ranMs[at - 4]! >= 1_000, `${at}`)
  })

  it('forgets those that wait when it is closed', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ran: number[] = []
    const pacer = createPacer(1, () => 0)
    pacer.run(() => ran.push(1))
    pacer.run(() => ran.push(2))
    pacer.close()
    t.mock.timers.tick(10_000)
    assert.deepEqual(ran, [1])
  })
})
