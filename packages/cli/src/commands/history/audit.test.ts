import assert from 'node:assert/strict'
import { it } from 'node:test'
import { detailWords } from './audit.ts'

it('the audit log tells rights in words, with times that people read', () => {
  const scope = { markets: 'all', maxLeverage: '20', dailySpendCapUsd: '500.5', permissions: 'trade' }
  const expiresAt = Date.UTC(2027, 0, 31, 12, 4, 31)
  assert.equal(
    detailWords({ name: 'bot', mode: 'self', scope: { ...scope, expiresAt } }),
    'name bot, sends its own transactions, all markets, leverage up to 20x, daily cap 500.5 USD, may trade, expires 2027-01-31 12:04:31 UTC',
  )
  const few = { ...scope, markets: ['BTC/USD', 'ETH/USD'], maxLeverage: null, dailySpendCapUsd: null, expiresAt: null }
  assert.equal(detailWords({ name: '', scope: few }), 'markets BTC/USD ETH/USD, may trade')
  assert.equal(detailWords({ scope: { markets: 12 }, control: 'relayer' }), '12 markets, control relayer')
  assert.equal(detailWords({ toString: 1 }), 'toString 1')
})
