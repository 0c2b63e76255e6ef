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
  sumFills,
} from './requestLegs.ts'
import { executed, reclaimed, refused, aFill, hash } from './testing/orderHistory.ts'
import type { Fill } from '@bezel/protocol'
import fc from 'fast-check'

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

describe('the fill of several legs', () => {
  it('of one leg is its own', () => {
    const fill = aFill()
    assert.deepEqual(sumFills([fill]), fill)
  })

  it('has sums, a weighted price, the first position and the last execution', () => {
    const first = aFill({
      price: '60000',
      size: '0.1',
      collateral: '600',
      feeCollateral: '3.6',
      txHash: hash(2),
      timestamp: 20,
      positionId: '11',
    })
    const second = aFill({
      price: '63000.5',
      size: '0.05',
      collateral: '315.25',
      feeCollateral: '1.8',
      txHash: hash(1),
      timestamp: 10,
      positionId: '12',
    })
    assert.deepEqual(sumFills([first, second]), {
      price: '61000.1666666666',
      size: '0.15',
      collateral: '915.25',
      feeCollateral: '5.4',
      txHash: hash(2),
      timestamp: 20,
      positionId: '11',
    })
  })

  it('of nothing at all has a price nevertheless', () => {
    assert.equal(sumFills([aFill({ price: '5', size: '0' }), aFill({ price: '6', size: '0' })]).price, '5')
  })

  it('has a price between those of its legs, and sums that do not depend on their order', () => {
    const amounts = fc
      .integer({ min: 1, max: 10 ** 9 })
      .map((cents) => `${Math.floor(cents / 100)}.${(cents % 100) + 1}1`)
    const legs = fc.array(fc.record({ price: amounts, size: amounts, collateral: amounts }), {
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(legs, (given) => {
        const fills = given.map((fields) => aFill(fields)) as [Fill, ...Fill[]]
        const { price, size, collateral } = sumFills(fills)
        const reversed = sumFills(fills.toReversed() as [Fill, ...Fill[]])
        assert.deepEqual(
          { price, size, collateral },
          { price: reversed.price, size: reversed.size, collateral: reversed.collateral },
        )
        const prices = fills.map((fill) => Number(fill.price))
        assert.ok(Number(price) >= Math.min(...prices) - 1e-6 && Number(price) <= Math.max(...prices) + 1e-6)
      }),
    )
  })
})
