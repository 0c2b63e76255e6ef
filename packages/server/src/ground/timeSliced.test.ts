import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createTimeSliced } from './timeSliced.ts'

describe('time-sliced work', () => {
  it('is done one at a time, in the order in which it was asked for, urgent work first', async () => {
    const sliced = createTimeSliced()
    const order: string[] = []
    const piece = (name: string) => async (): Promise<string> => {
      order.push(`${name} begins`)
      await nextTick()
      order.push(`${name} ends`)
      return name
    }
    const results = [sliced.later(piece('a')), sliced.later(piece('b')), sliced.soon(piece('c'))]
    assert.deepEqual(order, [], 'never in the middle of what asked for it')
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c'])
    assert.deepEqual(
      order,
      ['c', 'a', 'b'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    )
  })

  it('goes on after a piece that fails', async () => {
    const sliced = createTimeSliced()
    const failing = sliced.later(async () => {
      throw new Error('the store is away')
    })
    const good = sliced.later(async () => 'good')
    await assert.rejects(failing, /away/)
    assert.equal(await good, 'good')
    assert.equal(await sliced.later(async () => 'later'), 'later')
  })

  it('leaves room for everything else', async () => {
    // Each piece takes one millisecond of this clock.
    let nowMs = 0
    const sliced = createTimeSliced(() => nowMs)
    let lastBeatMs = 0
    let longestMs = 0
    function beat(): void {
      longestMs = Math.max(longestMs, nowMs - lastBeatMs)
      lastBeatMs = nowMs
      beating = setImmediate(beat)
    }
    let beating = setImmediate(beat)
    await Promise.all(Array.from({ length: 300 }, () => sliced.later(async () => void (nowMs += 1))))
    clearImmediate(beating)
    assert.equal(nowMs, 300)
    assert.ok(longestMs <= 5, `300 ms of work held everything up for ${longestMs} ms`)
  })
})
