import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBreaks } from './breaks.ts'

describe('breaks of long work', () => {
  it('let others have a turn every five milliseconds of work, and not more often', async () => {
    let [nowMs, turns] = [0, 0]
    let isOver = false
    const others = (): void => {
      turns += 1
      if (!isOver) setImmediate(others)
    }
    setImmediate(others)
    const takeBreak = createBreaks(() => nowMs)
    const turnsAt: number[] = []
    for (let piece = 1; piece <= 9; piece += 1) {
      nowMs += 2
      await takeBreak()
      turnsAt.push(turns)
    }
    isOver = true
    assert.deepEqual(turnsAt.slice(0, 2), [0, 0])
    assert.equal(new Set(turnsAt).size, 4)
  })
})
