import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tighterAnswer, type LimitAnswer } from './limits.ts'

const answer = (remaining: number, limit: number, isAllowed = true): LimitAnswer => ({
  isAllowed,
  scope: 'ip',
  limit,
  remaining,
  resetSeconds: 1,
})

describe('tighterAnswer', () => {
  it('is the one with the fewest remaining, and the smaller limit in a tie', () => {
    for (const [tighter, looser] of [
      [answer(1, 600), answer(2, 60)],
      [answer(5, 60), answer(5, 300)],
      [answer(0, 600, false), answer(0, 60)],
    ] as const) {
      assert.equal(tighterAnswer(tighter, looser), tighter)
      assert.equal(tighterAnswer(looser, tighter), tighter)
    }
  })
})
