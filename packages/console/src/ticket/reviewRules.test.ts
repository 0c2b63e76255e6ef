import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isOrderable, outdated, type Reviewed } from './reviewRules.ts'

const preview: Reviewed['preview'] = {
  type: 'market',
  oraclePrice: '60000',
  slippage: '1',
  missing: [],
  reason: null,
}

const transaction = { to: '0x1', data: '0x', value: '0', chainId: 1, gas: null, expiresAt: 100_000 } as const

const NOW = { mark: '60000', nowMs: 50_000, closed: null }

describe('a review', () => {
  it('holds while the price stays within half of the slippage', () => {
    const reviewed: Reviewed = { preview, verified: { transaction } }
    for (const mark of ['60000', '60300', '59700', null]) assert.equal(outdated(reviewed, { ...NOW, mark }), null)
    for (const mark of ['60300.01', '59699.99']) {
      assert.match(outdated(reviewed, { ...NOW, mark }) ?? '', /^The price has moved from 60/)
    }
  })

  it('of a resting order does not care about the price', () => {
    assert.equal(outdated({ preview: { ...preview, type: 'limit' }, verified: null }, { ...NOW, mark: '1' }), null)
  })

  it('ends shortly before its transaction expires, and when the market closes', () => {
    const reviewed: Reviewed = { preview, verified: { transaction } }
    assert.equal(outdated(reviewed, { ...NOW, nowMs: 97_000 }), null)
    assert.match(outdated(reviewed, { ...NOW, nowMs: 97_001 }) ?? '', /too old/)
    assert.equal(outdated({ preview, verified: null }, { ...NOW, nowMs: 200_000 }), null)
    assert.equal(outdated({ preview, verified: { transaction: null } }, { ...NOW, nowMs: 200_000 }), null)
    assert.equal(outdated(reviewed, { ...NOW, closed: 'Closed.' }), 'Closed.')
    assert.equal(
      outdated({ preview: { ...preview, type: 'stop' }, verified: null }, { ...NOW, closed: 'Closed.' }),
      null,
    )
  })

  it('leads to an order when nothing is missing, nothing refuses it and gas is there', () => {
    assert.equal(isOrderable({ preview }, false), true)
    assert.equal(isOrderable({ preview }, true), false)
    assert.equal(isOrderable({ preview: { ...preview, reason: 'SLIPPAGE' } }, false), false)
  })
})
