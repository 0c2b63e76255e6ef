import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FundingRateP, MarketSchema, Price } from '@bezel/protocol'
import { SAMPLE_MARKET } from '@bezel/testkit/sampleMarket.ts'
import { Value } from '@sinclair/typebox/value'
import { tokens } from '../valuation/testing/fixtures.ts'
import { fundingRecord, marketRecord, priceRecord } from './marketRecord.ts'
import { BTC, chainMarkets, usd } from '../../market/testing/fixtures.ts'

const FUNDED = {
  skewCoefficientPerYear: 65n * 10n ** 23n,
  absoluteVelocityPerYearCap: 10_000_000,
  absoluteRatePerSecondCap: 31_709,
  thetaThresholdUsd: 10_000,
  fundingFeesEnabled: true,
  aprMultiplierEnabled: true,
}

describe('marketRecord', () => {
  it('has every field of the interface, rates as fractions, minimums as the Diamond has them', () => {
    const record = marketRecord(chainMarkets(), BTC, usd(60_000), true)
    assert.ok(Value.Check(MarketSchema, record))
    assert.deepEqual(record, SAMPLE_MARKET)
  })
})

describe('fundingRecord', () => {
  it('sums open interest over the collaterals, in USD at the mark', () => {
    const chain = chainMarkets({ oiLongToken: tokens(2), oiShortToken: tokens(1.5) })
    // 0.01 tokens of a pair in WETH are worth 0.01 x price in WETH.
    const inWeth = { ...chain.states.get(2)!.get(0)!, oiLongToken: tokens(0.01) }
    const states = new Map([...chain.states, [2, new Map([[0, inWeth]])]])
    const funding = fundingRecord({ ...chain, states }, 0, usd(60_000))
    assert.equal(funding.openInterestLongUsd, String(2 * 60_000 + 0.01 * 60_000 * 2_500))
    assert.equal(funding.openInterestShortUsd, '90000')
    assert.equal(funding.skewUsd, String(2 * 60_000 + 0.01 * 60_000 * 2_500 - 90_000))
  })

  it('shows what longs pay as positive and what shorts get as negative, per hour', () => {
    const chain = chainMarkets({
      oiLongToken: tokens(20),
      oiShortToken: tokens(10),
      fundingParams: FUNDED,
      fundingData: {
        accFundingFeeLongP: 0n,
        accFundingFeeShortP: 0n,
        lastFundingRatePerSecondP: FundingRateP.of(10n ** 12n),
        lastFundingUpdateTs: 1_000,
      },
      borrowingParams: { borrowingRatePerSecondP: 3_170 },
    })
    const funding = fundingRecord(chain, 0, usd(60_000))
    assert.equal(funding.fundingRateLongHourly, '0.0036')
    // Half as many shorts share the payment, so each gets twice as much.
    assert.equal(funding.fundingRateShortHourly, '-0.0072')
    assert.equal(funding.borrowingRateHourly, '0.0011412')
  })

  it('is zero, never null, for a pair that the default collateral does not have', () => {
    const funding = fundingRecord({ ...chainMarkets(), defaultCollateralIndex: 9 }, 0, usd(1))
    assert.deepEqual(new Set(Object.values(funding)), new Set(['0']))
  })
})

describe('priceRecord', () => {
  it('writes prices as decimals', () => {
    const quote = { pairIndex: 0, mark: Price.of(85_000n), index: usd(60_000.5), updatedAtMs: 7 }
    assert.deepEqual(priceRecord(BTC, quote), { market: 'BTC/USD', mark: '0.0000085', index: '60000.5', updatedAt: 7 })
  })
})
