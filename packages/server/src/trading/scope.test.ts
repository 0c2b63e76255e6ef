import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Leverage, Usd, type AgentScope } from '@bezel/protocol'
import { BTC, EUR } from '../market/testing/fixtures.ts'
import { refusalOf } from './plan/testing/fixtures.ts'
import { requireScope, requireSpendCap, utcDayOf } from './scope.ts'

const SCOPE: AgentScope = {
  markets: 'all',
  maxLeverage: null,
  dailySpendCapUsd: null,
  expiresAt: null,
  permissions: 'trade',
}

const USD = Usd.one

const action = (leverage: bigint | null, spendUsd = 0n) => ({
  market: BTC.symbol,
  leverage: leverage === null ? null : Leverage.of(leverage),
  spendUsd: Usd.of(spendUsd),
})

describe("an agent's scope", () => {
  it('without limits lets everything through', () => {
    requireScope(SCOPE, action(10n ** 9n))
    requireSpendCap(SCOPE, Usd.of(10n ** 40n), action(null, 10n ** 40n))
  })

  it('names the markets it is for', () => {
    const scope = { ...SCOPE, markets: [EUR.symbol, BTC.symbol] }
    requireScope(scope, action(null))
    const details = refusalOf(
      () => requireScope({ ...SCOPE, markets: ['EUR/USD'] }, action(null)),
      'SCOPE_MARKET_NOT_ALLOWED',
    )
    assert.deepEqual(details, { market: 'BTC/USD', markets: ['EUR/USD'] })
    refusalOf(() => requireScope({ ...SCOPE, markets: [] }, action(null)), 'SCOPE_MARKET_NOT_ALLOWED')
  })

  it("bounds leverage, the bound included, and nothing that can't raise it", () => {
    const scope = { ...SCOPE, maxLeverage: '20.5' }
    requireScope(scope, action(20_500n))
    requireScope(scope, action(null))
    const details = refusalOf(() => requireScope(scope, action(20_501n)), 'SCOPE_LEVERAGE_EXCEEDED')
    assert.deepEqual(details, { leverage: '20.501', maxLeverage: '20.5' })
    requireScope({ ...SCOPE, maxLeverage: '20.5009' }, action(20_500n))
    refusalOf(() => requireScope({ ...SCOPE, maxLeverage: '0' }, action(1n)), 'SCOPE_LEVERAGE_EXCEEDED')
  })

  it('speaks of the market before the leverage', () => {
    refusalOf(
      () => requireScope({ ...SCOPE, markets: [], maxLeverage: '1' }, action(2_000n)),
      'SCOPE_MARKET_NOT_ALLOWED',
    )
  })

  it('bounds what is opened in a day, the bound included', () => {
    const scope = { ...SCOPE, dailySpendCapUsd: '1000' }
    requireSpendCap(scope, Usd.of(400n * USD), action(null, 600n * USD))
    const details = refusalOf(
      () => requireSpendCap(scope, Usd.of(400n * USD), action(null, 600n * USD + 1n)),
      'SCOPE_SPEND_CAP_EXCEEDED',
    )
    assert.deepEqual(details, {
      notionalUsd: '600.000000000000000001',
      spentUsd: '400',
      dailySpendCapUsd: '1000',
    })
  })

  it('lets closes through when the day is spent', () => {
    requireSpendCap({ ...SCOPE, dailySpendCapUsd: '0' }, Usd.of(5n * USD), action(null))
  })
})

it('a day of spend begins at midnight UTC', () => {
  const midnight = Date.UTC(2026, 2, 29)
  const day = utcDayOf(midnight)
  assert.equal(utcDayOf(midnight - 1), day - 1)
  assert.equal(utcDayOf(midnight + 86_399_999), day)
  assert.equal(utcDayOf(midnight + 86_400_000), day + 1)
  assert.equal(utcDayOf(0), 0)
})
