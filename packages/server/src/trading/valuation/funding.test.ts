import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralPrice, FundingRateP, TokenSize } from '@bezel/protocol'
import fc from 'fast-check'
import type { FundingFeeParams, PairState } from './chainState.ts'
import {
  fundingMultipliers,
  MULTIPLIER_ONE,
  fundingRateAfter,
  fundingVelocityPerYear,
  pendingFunding,
} from './funding.ts'
import { pendingBorrowingP } from './holdingFees.ts'
import { price, QUIET_PAIR, tokens, USDC } from './testing/fixtures.ts'

const WETH = { precision: 10n ** 18n, precisionDelta: 1n, priceUsd: CollateralPrice.of(2_500n * 10n ** 8n) }

/** Parameters whose velocity moves the rate by 1e8 a second at 1000 tokens of skew and more, up to 1000e8. */
const PARAMS: FundingFeeParams = {
  skewCoefficientPerYear: 31_536_000n * 10n ** 13n,
  absoluteVelocityPerYearCap: 31_536,
  absoluteRatePerSecondCap: 1_000,
  thetaThresholdUsd: 100,
  fundingFeesEnabled: true,
  aprMultiplierEnabled: false,
}

const PER_SECOND = 10n ** 8n

const VELOCITY = 31_536_000n

function pairWith(long: number, short: number, lastRate = 0n, params: Partial<FundingFeeParams> = {}): PairState {
  return {
    ...QUIET_PAIR,
    oiLongToken: tokens(long),
    oiShortToken: tokens(short),
    fundingParams: { ...PARAMS, ...params },
    fundingData: { ...QUIET_PAIR.fundingData, lastFundingRatePerSecondP: FundingRateP.of(lastRate) },
  }
}

describe('funding velocity', () => {
  it('follows the skew up to its cap, with its sign', () => {
    assert.equal(fundingVelocityPerYear(PARAMS, tokens(1_000), price(1), USDC), VELOCITY)
    assert.equal(fundingVelocityPerYear(PARAMS, TokenSize.of(-tokens(500)), price(1), USDC), -VELOCITY / 2n)
    assert.equal(fundingVelocityPerYear(PARAMS, tokens(5_000), price(1), USDC), VELOCITY)
  })

  it('is none below theta, which is in USD: for a collateral of 2500 USD a hundredth of a token is enough', () => {
    assert.equal(fundingVelocityPerYear(PARAMS, tokens(99.999999), price(1), USDC), 0n)
    assert.notEqual(fundingVelocityPerYear(PARAMS, tokens(100), price(1), USDC), 0n)
    assert.equal(fundingVelocityPerYear(PARAMS, tokens(0.039999), price(1), WETH), 0n)
    assert.notEqual(fundingVelocityPerYear(PARAMS, tokens(0.04), price(1), WETH), 0n)
  })
})

describe('funding rate', () => {
  it('moves linearly; its average lies in the middle', () => {
    const course = fundingRateAfter(PARAMS, FundingRateP.zero, VELOCITY, 100n)
    assert.deepEqual(course, { ratePerSecondP: 100n * PER_SECOND, averagePerSecondP: 50n * PER_SECOND })
  })

  it('stays at its cap; the average weighs the time on the way and the time there', () => {
    const course = fundingRateAfter(PARAMS, FundingRateP.zero, VELOCITY, 2_000n)
    assert.deepEqual(course, { ratePerSecondP: 1_000n * PER_SECOND, averagePerSecondP: 750n * PER_SECOND })
    const other = fundingRateAfter(PARAMS, FundingRateP.zero, -VELOCITY, 2_000n)
    assert.deepEqual(other, { ratePerSecondP: -1_000n * PER_SECOND, averagePerSecondP: -750n * PER_SECOND })
  })

  it('is none while no cap is set', () => {
    const course = fundingRateAfter({ ...PARAMS, absoluteRatePerSecondCap: 0 }, FundingRateP.of(7n), VELOCITY, 100n)
    assert.deepEqual(course, { ratePerSecondP: 0n, averagePerSecondP: 0n })
  })

  it('beyond a cap that was lowered since, stays or moves on; only the way back ends at the other cap', () => {
    const rate = 1_500n * PER_SECOND
    const beyond = (velocity: bigint): unknown => fundingRateAfter(PARAMS, FundingRateP.of(rate), velocity, 100n)
    const course = (end: bigint): unknown => ({ ratePerSecondP: end, averagePerSecondP: (rate + end) / 2n })
    assert.deepEqual(beyond(0n), course(rate))
    assert.deepEqual(beyond(VELOCITY), course(rate + 100n * PER_SECOND))
    assert.deepEqual(beyond(-VELOCITY), course(rate - 100n * PER_SECOND))
  })

  it('never passes its cap, and its average never its ends', () => {
    const cap = 1_000n * PER_SECOND
    fc.assert(
      fc.property(
        fc.bigInt(-cap, cap),
        fc.bigInt(-VELOCITY, VELOCITY),
        fc.bigInt(1n, 10n ** 6n),
        (last, velocity, s) => {
          const { ratePerSecondP: rate, averagePerSecondP: average } = fundingRateAfter(
            PARAMS,
            FundingRateP.of(last),
            velocity,
            s,
          )
          assert.ok(rate >= -cap && rate <= cap)
          assert.ok(average >= (last < rate ? last : rate) && average <= (last < rate ? rate : last))
        },
      ),
    )
  })
})

describe('pending funding', () => {
  const at = (pair: PairState, elapsedS: number) => pendingFunding(pair, USDC, price(1), 1_000 + elapsedS)

  it('what longs pay, shorts get', () => {
    const { accFundingFeeLongP, accFundingFeeShortP } = at(pairWith(2_000, 1_000), 100)
    // 50e8 on average x 100 s x 1e10 / 1e8
    assert.equal(accFundingFeeLongP, 50n * 10n ** 8n * 100n * 100n)
    assert.equal(accFundingFeeShortP, -accFundingFeeLongP)
  })

  it('a side without open interest has no part in it', () => {
    const { accFundingFeeLongP, accFundingFeeShortP } = at(pairWith(2_000, 0), 100)
    assert.ok(accFundingFeeLongP > 0n)
    assert.equal(accFundingFeeShortP, 0n)
  })

  it('with the APR multiplier the earning side shares all that is paid, up to 100 times', () => {
    assert.deepEqual(fundingMultipliers(pairWith(4_000, 1_000, 0n, { aprMultiplierEnabled: true }), true), {
      long: MULTIPLIER_ONE,
      short: 4n * MULTIPLIER_ONE,
    })
    const lopsided = pairWith(4_000, 1, 0n, { aprMultiplierEnabled: true })
    assert.equal(fundingMultipliers(lopsided, true).short, 100n * MULTIPLIER_ONE)
    assert.equal(fundingMultipliers(lopsided, false).long, MULTIPLIER_ONE / 4_000n, 'longs that earn from few shorts')
  })

  it('a change of sign is split where the rate is zero, so each part has its own payer', () => {
    // Shorts pay for 100 s down to zero, then longs for 100 s up to 100e8: the same amount.
    const pair = pairWith(2_000, 1_000, -100n * PER_SECOND, { aprMultiplierEnabled: true })
    const paid = 50n * 10n ** 8n * 100n * 100n
    assert.deepEqual(at(pair, 200), {
      // Longs earn half of what shorts pay per token, then pay in full; shorts pay in full, then earn twice.
      accFundingFeeLongP: -paid / 2n + paid,
      accFundingFeeShortP: paid - 2n * paid,
      fundingRatePerSecondP: 100n * PER_SECOND,
    })
  })

  it('after a change of sign counts half of the present rate, also when that has long been at its cap', () => {
    // Shorts pay for 100 s; longs from then on, for 1000 s up to the cap and 8900 s at it.
    const pair = pairWith(1_000, 0, -100n * PER_SECOND, { aprMultiplierEnabled: true })
    const { accFundingFeeLongP, fundingRatePerSecondP } = at(pair, 10_000)
    assert.equal(fundingRatePerSecondP, 1_000n * PER_SECOND)
    // With no shorts longs earn nothing in the first part.
    assert.equal(accFundingFeeLongP, 500n * PER_SECOND * 9_900n * 100n)
  })

  it('without the APR multiplier is one interval with one average', () => {
    const pair = pairWith(1_000, 0, -100n * PER_SECOND)
    const { averagePerSecondP } = fundingRateAfter(PARAMS, FundingRateP.of(-100n * PER_SECOND), VELOCITY, 10_000n)
    assert.equal(at(pair, 10_000).accFundingFeeLongP, averagePerSecondP * 10_000n * 100n)
  })

  it('is what is stored when funding is off, never began, or the time is not after the last update', () => {
    const pair = pairWith(2_000, 1_000, 7n * PER_SECOND)
    const stored = { accFundingFeeLongP: 0n, accFundingFeeShortP: 0n, fundingRatePerSecondP: 7n * PER_SECOND }
    assert.deepEqual(at(pair, 0), stored)
    assert.deepEqual(at(pair, -5), stored)
    assert.deepEqual(at({ ...pair, fundingParams: { ...PARAMS, fundingFeesEnabled: false } }, 100), stored)
    const unborn = { ...pair, fundingData: { ...pair.fundingData, lastFundingUpdateTs: 0 } }
    assert.deepEqual(at(unborn, 100), stored)
  })

  it('nobody earns more than the others pay, however lopsided', () => {
    const oi = fc.integer({ min: 1, max: 100_000 })
    const rate = fc.bigInt(-1_000n * PER_SECOND, 1_000n * PER_SECOND)
    fc.assert(
      fc.property(oi, oi, rate, fc.integer({ min: 1, max: 100_000 }), (long, short, lastRate, elapsedS) => {
        const pair = pairWith(long, short, lastRate, { aprMultiplierEnabled: true })
        const { accFundingFeeLongP, accFundingFeeShortP } = at(pair, elapsedS)
        const net = accFundingFeeLongP * BigInt(long) + accFundingFeeShortP * BigInt(short)
        // Each of the two parts rounds both sides by less than one.
        assert.ok(net >= -2n * BigInt(long + short), `${net}`)
      }),
    )
  })
})

describe('pending borrowing', () => {
  const pair = { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 3 } }

  it('grows with time and price from what is stored', () => {
    const stored = { ...pair, borrowingData: { accBorrowingFeeP: 5n, lastBorrowingUpdateTs: 1_000 } }
    assert.equal(pendingBorrowingP(stored, price(2), 1_010), 5n + 3n * 10n * price(2))
    assert.equal(pendingBorrowingP(stored, price(2), 999), 5n)
  })

  it('starts with its first update', () => {
    const unborn = { ...pair, borrowingData: { accBorrowingFeeP: 0n, lastBorrowingUpdateTs: 0 } }
    assert.equal(pendingBorrowingP(unborn, price(2), 1_010), 0n)
  })
})
