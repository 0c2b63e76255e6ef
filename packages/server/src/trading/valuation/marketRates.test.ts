import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralPrice, FundingRateP, PercentP, Usd, WholeCollateral } from '@bezel/protocol'
import { NO_OLD_BORROWING, type PairState } from './chainState.ts'
import { borrowingHourlyPercent, fundingHourly } from './funding.ts'
import { marketOpenInterestUsd, maxOpenInterestCollateral, openInterestUsd } from './openInterest.ts'
import { price, QUIET_PAIR, tokens, USDC, usdc } from './testing/fixtures.ts'

const WETH = { precision: 10n ** 18n, precisionDelta: 1n, priceUsd: CollateralPrice.of(2_500n * CollateralPrice.one) }

/** Builds a pair whose rate stays (no velocity) at 0.001 % a second, paid by longs. */
function steady(long: number, short: number, params: Partial<PairState['fundingParams']> = {}): PairState {
  return {
    ...QUIET_PAIR,
    oiLongToken: tokens(long),
    oiShortToken: tokens(short),
    fundingParams: {
      ...QUIET_PAIR.fundingParams,
      fundingFeesEnabled: true,
      absoluteRatePerSecondCap: 3_170_978_0,
      ...params,
    },
    fundingData: { ...QUIET_PAIR.fundingData, lastFundingRatePerSecondP: FundingRateP.of(10n ** 15n) },
  }
}

describe('hourly rates', () => {
  const shown = (pair: PairState) => {
    const { longPercent, shortPercent } = fundingHourly(pair, USDC, price(1), 5_000)
    return [longPercent, shortPercent].map((rate) => FundingRateP.format(rate))
  }

  it('of funding: paid by one side, received by the other', () => {
    assert.deepEqual(shown(steady(10, 10)), ['3.6', '-3.6'])
  })

  it('of funding with the APR multiplier: the smaller side receives more', () => {
    assert.deepEqual(shown(steady(10, 5, { aprMultiplierEnabled: true })), ['3.6', '-7.2'])
  })

  it('of funding: 0 for a side without open interest, and for a pair that charges none', () => {
    assert.deepEqual(shown(steady(10, 0)), ['3.6', '0'])
    assert.deepEqual(shown(steady(10, 10, { fundingFeesEnabled: false })), ['0', '0'])
  })

  it('of borrowing', () => {
    const pair = { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 31_710 } }
    const book = { pair, collateral: USDC }
    assert.equal(PercentP.format(borrowingHourlyPercent(book, price(1), 1_800)), '0.0114156')
  })
})

describe('hourly rate of borrowing of both generations', () => {
  const whole = (amount: bigint) => WholeCollateral.of(amount * WholeCollateral.one)
  /** A pair with 0.0001 % a block at its maximum of 1,000, of which 300 are net long, and 0.0036 % an hour besides. */
  const pair: PairState = {
    ...QUIET_PAIR,
    oiLongToken: tokens(500),
    oiShortToken: tokens(200),
    maxOi: whole(1_000n),
    borrowingParams: { borrowingRatePerSecondP: 10_000 },
    oldBorrowing: {
      ...NO_OLD_BORROWING,
      data: { ...NO_OLD_BORROWING.data, feePerBlock: 1_000_000, feeExponent: 1 },
    },
  }
  const hourly = (of: PairState, blocksPerHour: number) =>
    PercentP.format(borrowingHourlyPercent({ pair: of, collateral: USDC }, price(1), blocksPerHour))

  it('is the sum, with the first one as often as there are blocks', () => {
    assert.equal(hourly(pair, 0), '0.0036')
    assert.equal(hourly(pair, 1_800), '0.0576')
    assert.equal(hourly(pair, 14_400), '0.4356')
  })

  it('is that of the heavier side, whichever it is, and of the group where that one takes more', () => {
    const [oiLongToken, oiShortToken] = [pair.oiShortToken, pair.oiLongToken]
    assert.equal(hourly({ ...pair, oiLongToken, oiShortToken }, 1_800), '0.0576')
    const data = { ...pair.oldBorrowing.data, feePerBlock: 3_000_000 }
    const group = { data, oi: { long: whole(0n), short: whole(500n), max: whole(1_000n) } }
    assert.equal(hourly({ ...pair, oldBorrowing: { ...pair.oldBorrowing, group } }, 1_800), '0.2736')
  })
})

describe('open interest', () => {
  const inUsdc = { pair: { ...QUIET_PAIR, oiLongToken: tokens(2), oiShortToken: tokens(1) }, collateral: USDC }
  const inWeth = { pair: { ...QUIET_PAIR, oiLongToken: tokens(0.001), oiShortToken: tokens(0) }, collateral: WETH }

  it('of a collateral: tokens at the price, in USD', () => {
    const usd = (amount: bigint) => amount * 10n ** 18n
    const expected = { longUsd: usd(200n), shortUsd: usd(100n), skewUsd: usd(100n) }
    assert.deepEqual(openInterestUsd(inUsdc, price(100)), expected)
    assert.equal(openInterestUsd(inWeth, price(100)).longUsd, usd(250n), '0.1 WETH')
  })

  it('of the market is the sum, pre-v10 trades included', () => {
    const old = { pair: { ...QUIET_PAIR, oiShortBeforeV10Collateral: usdc(7) }, collateral: USDC }
    const { longUsd, shortUsd, skewUsd } = marketOpenInterestUsd([inUsdc, inWeth, old], price(100))
    assert.deepEqual(
      [longUsd, shortUsd, skewUsd].map((usd) => Usd.format(usd)),
      ['450', '107', '343'],
    )
  })

  it('has a limit in whole collateral at 1e10', () => {
    const pair = { ...QUIET_PAIR, maxOi: WholeCollateral.of(5n * WholeCollateral.one) }
    assert.equal(maxOpenInterestCollateral({ pair, collateral: USDC }), usdc(5))
  })
})
