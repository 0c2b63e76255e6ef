import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createTurns } from './turns.ts'

/** Holds up the whole process, as a read of the store does. */
function work(forMs: number): void {
  for (const end = performance.now() + forMs; performance.now() < end;);
}

describe('turns', () => {
  it('are taken one at a time, in the order in which they were asked for, urgent ones first', async () => {
    const turns = createTurns()
    const order: string[] = []
    const piece = (name: string) => async (): Promise<string> => {
      order.push(`${name} begins`)
      await nextTick()
      order.push(`${name} ends`)
      return name
    }
    const results = [turns.later(piece('a')), turns.later(piece('b')), turns.soon(piece('c'))]
    assert.deepEqual(order, [], 'never in the middle of what asked for it')
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c'])
    assert.deepEqual(
      order,
      ['c', 'a', 'b'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    )
  })

  it('go on after one that fails', async () => {
    const turns = createTurns()
    const failing = turns.later(async () => {
      throw new Error('the store is away')
    })
    const good = turns.later(async () => 'good')
    await assert.rejects(failing, /away/)
    assert.equal(await good, 'good')
    assert.equal(await turns.later(async () => 'later'), 'later')
  })

  it('leave room for everything else', async () => {
    const turns = createTurns()
    let longestMs = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 0)
    await Promise.all(Array.from({ length: 300 }, () => turns.later(async () => work(1))))
    clearInterval(beat)
    assert.ok(longestMs < 60, `300 ms of work held everything up for ${longestMs} ms`)
  })
})
