import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditDetail, auditSentence, scopeWords } from './auditWords.ts'

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const SCOPE = {
  markets: ['BTC/USD', 'ETH/USD'],
  maxLeverage: '20',
  dailySpendCapUsd: '5000',
  expiresAt: Date.UTC(2027, 0, 31),
  permissions: 'trade',
} as const

describe('auditSentence', () => {
  it('has words for every kind, also for one that is not known yet', () => {
    assert.equal(auditSentence({ kind: 'delegation_lost' }), 'Delegation ended on the chain')
    assert.equal(auditSentence({ kind: 'something_new' as never }), 'something new')
  })
})

describe('auditDetail', () => {
  it('tells the rights of an agent, and nothing of limits that are not set', () => {
    const detail = { name: 'bot', mode: 'self', scope: { ...SCOPE, maxLeverage: null } }
    assert.equal(
      auditDetail(detail, dateOf),
      'named bot, sends its own transactions, markets BTC/USD, ETH/USD, daily cap 5,000\u00a0USD, expires 2027-01-31, may trade',
    )
  })

  it('tells counts, names that it does not know, and nothing of nothing', () => {
    assert.equal(auditDetail({ name: '', scope: { markets: 12 }, reason: 'gas' }, dateOf), '12 markets, reason gas')
    assert.equal(auditDetail({ scope: { markets: 'all' } }, dateOf), 'all markets')
    const delegate = '0x00000000000000000000000000000000000000A1'
    assert.equal(auditDetail({ delegate }, dateOf), 'delegate 0x0000…00A1')
    assert.equal(auditDetail(null, dateOf), '')
  })
})

it('says each limit of a scope', () => {
  assert.deepEqual(scopeWords({ ...SCOPE, markets: [...SCOPE.markets] }, dateOf), [
    'may trade',
    'markets BTC/USD, ETH/USD',
    'leverage up to 20×',
    'daily cap 5,000\u00a0USD',
    'expires 2027-01-31',
  ])
  const open = {
    markets: 'all',
    maxLeverage: null,
    dailySpendCapUsd: null,
    expiresAt: null,
    permissions: 'read',
  } as const
  assert.deepEqual(scopeWords(open, dateOf), [
    'may only read',
    'all markets',
    'any leverage',
    'no daily cap',
    'never expires',
  ])
})
