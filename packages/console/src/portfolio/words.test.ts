import { FILL_ACTIONS } from '../../../protocol/src/schemas/fillHistory.ts'
import { ORDER_REASONS, ORDER_STATUSES } from '../../../protocol/src/schemas/order.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatAmount } from '../ground/format.ts'
import { actionWord, kindWord, pendingWords, positionSide, refusalOf, statusWord } from './words.ts'

describe('words of the portfolio', () => {
  it('tell every state, action and reason', () => {
    for (const status of ORDER_STATUSES) {
      assert.notEqual(statusWord({ status, txHash: null, type: 'market' }).word, '')
    }
    for (const action of FILL_ACTIONS) assert.notEqual(actionWord(action).word, '')
    for (const reason of ORDER_REASONS) {
      const refusal = refusalOf({ reason })
      if (reason === 'NONE') assert.equal(refusal, null)
      else assert.match(`${refusal?.cause} ${refusal?.remedy}`, /^[A-Z].*\. [A-Z].*\.$/)
    }
    assert.equal(refusalOf({ reason: null }), null)
  })

  it('tell a transaction that waits for its block', () => {
    const sent = { status: 'prepared', txHash: '0x12', type: 'market' } as const
    assert.equal(statusWord(sent).word, 'Waiting for the block')
    assert.equal(statusWord({ status: 'pending', txHash: '0x12', type: 'limit' }).word, 'Waiting for the block')
    assert.equal(statusWord({ status: 'pending', txHash: '0x12', type: 'market' }).word, 'Waiting for the oracle')
  })

  it('tell the kind of an order and a change that waits', () => {
    assert.equal(kindWord({ type: 'market', reduceOnly: true }), 'Close')
    assert.equal(kindWord({ type: 'stop', reduceOnly: false }), 'Stop')
    assert.equal(positionSide({ side: 'long', reduceOnly: true }), 'short')
    assert.equal(positionSide({ side: 'long', reduceOnly: false }), 'long')
    const change = { kind: 'leverage', leverage: '5', createdAt: 0, timesOutAtBlock: 9, txHash: null } as const
    assert.equal(
      pendingWords({ ...change, collateralDelta: '300', status: 'pending' }, 'USDC'),
      `Leverage to 5×, ${formatAmount('300', { symbol: 'USDC' })} taken from the wallet`,
    )
    assert.equal(
      pendingWords({ ...change, collateralDelta: '-20', status: 'timed_out' }, 'USDC'),
      `Leverage to 5×, ${formatAmount('20', { symbol: 'USDC' })} to come back to the wallet`,
    )
    assert.equal(
      pendingWords({ ...change, kind: 'other', collateralDelta: '0', status: 'pending' }, 'USDC'),
      'Settlement of fees',
    )
  })
})
