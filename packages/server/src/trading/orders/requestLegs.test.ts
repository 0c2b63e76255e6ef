import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  causeOfAnswers,
  fillOf,
  reasonOf,
  timeoutBlockOf,
  unansweredOf,
  withAnswer,
  type RequestLeg,
} from './requestLegs.ts'
import { executed, reclaimed, refused } from './testing/orderHistory.ts'

const waiting = (pendingIndex: number, createdBlock = 10): RequestLeg => ({
  pendingIndex,
  createdBlock,
  answer: undefined,
})
const FILLED: RequestLeg = { ...waiting(1), answer: executed({ block: 11 }, 1) }
const REFUSED: RequestLeg = { ...waiting(2), answer: refused({ block: 11 }, 'SLIPPAGE', 2) }
const RECLAIMED: RequestLeg = { ...waiting(3), answer: reclaimed({ block: 11 }, 3) }

describe('requests to the oracle', () => {
  it('take an answer where one waits for it', () => {
    const answer = executed({ block: 12 }, 5)
    assert.deepEqual(withAnswer([FILLED, waiting(5)], answer), [FILLED, { ...waiting(5), answer }])
    assert.equal(withAnswer([FILLED, waiting(5)], executed({ block: 12 }, 6)), undefined)
    assert.equal(withAnswer([FILLED], executed({ block: 12 }, 1)), undefined)
    assert.equal(withAnswer([waiting(5)], executed({ block: 12 }, null)), undefined)
  })

  it('mean for the order: partly while one waits, then the best of what came', () => {
    assert.equal(causeOfAnswers([FILLED, waiting(5)]), 'answeredPartly')
    assert.equal(causeOfAnswers([RECLAIMED, REFUSED, FILLED]), 'executed')
    assert.equal(causeOfAnswers([RECLAIMED, REFUSED]), 'refused')
    assert.equal(causeOfAnswers([RECLAIMED]), 'reclaimed')
  })

  it('time out by the oldest that waits', () => {
    assert.equal(timeoutBlockOf([waiting(5, 30), waiting(6, 20), FILLED], 200), 220)
    assert.equal(timeoutBlockOf([FILLED, REFUSED], 200), null)
    assert.deepEqual(unansweredOf([FILLED, waiting(5), RECLAIMED]), [waiting(5)])
  })

  it('have a fill when one was filled, and the reason of the first that was refused', () => {
    assert.equal(fillOf([REFUSED.answer!, RECLAIMED.answer!]), null)
    assert.equal(fillOf([REFUSED.answer!, FILLED.answer!])?.size, '0.1')
    assert.equal(reasonOf([FILLED.answer!, RECLAIMED.answer!]), null)
    assert.equal(reasonOf([FILLED.answer!, REFUSED.answer!, refused({ block: 12 }, 'PAUSED', 9)]), 'SLIPPAGE')
  })
})
