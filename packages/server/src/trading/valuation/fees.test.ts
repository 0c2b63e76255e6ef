import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, CollateralPrice } from '@bezel/protocol'
import fc from 'fast-check'
import { ORDINARY_TERMS } from './chainState.ts'
import {
  liquidationFeeCollateral,
  MIN_FEES_ON_OPEN,
  minCollateral,
  minFeeUsd,
  rawTradingFeeCollateral,
  tieredFeeCollateral,
} from './fees.ts'
import { LISTING, USDC, usdc } from './testing/fixtures.ts'

describe('fees', () => {
  it('0.06 % of the size, and of 1250 USD at least', () => {
    assert.equal(rawTradingFeeCollateral(usdc(10_000), false, LISTING, USDC), usdc(6))
    assert.equal(rawTradingFeeCollateral(usdc(1), false, LISTING, USDC), usdc(0.75))
    assert.equal(rawTradingFeeCollateral(CollateralAmount.zero, false, LISTING, USDC), usdc(0.75))
  })

  it('a counter trade pays its share of the rate, but not less than the floor does', () => {
    assert.equal(rawTradingFeeCollateral(usdc(10_000), true, LISTING, USDC), usdc(3))
    assert.equal(rawTradingFeeCollateral(usdc(2_000), true, LISTING, USDC), usdc(0.75))
  })

  it('the floor is in USD: a cheaper collateral pays more of it', () => {
    const cheap = { ...USDC, priceUsd: CollateralPrice.of(50_000_000n) }
    assert.equal(rawTradingFeeCollateral(CollateralAmount.zero, false, LISTING, cheap), usdc(1.5))
  })

  it('a tier takes its share off, truncated', () => {
    assert.equal(tieredFeeCollateral(CollateralAmount.of(1_001n), { ...ORDINARY_TERMS, feeMultiplier: 850 }), 850n)
    assert.equal(tieredFeeCollateral(CollateralAmount.of(1_001n), ORDINARY_TERMS), 1_001n)
  })

  it('the minimum fee is that of the floor, and five of them are the least collateral', () => {
    assert.equal(minFeeUsd(LISTING), 75n * 10n ** 16n)
    assert.equal(minCollateral(MIN_FEES_ON_OPEN, LISTING, USDC), usdc(3.75))
    assert.equal(minCollateral(1n, LISTING, USDC), usdc(0.75))
  })

  it('a liquidation costs a tenth of the collateral', () => {
    assert.equal(liquidationFeeCollateral(usdc(100), LISTING), usdc(10))
  })

  it('never falls when the size grows', () => {
    const sizes = fc.bigInt(0n, 10n ** 15n)
    fc.assert(
      fc.property(sizes, sizes, fc.boolean(), (a, b, isCounterTrade) => {
        const [less, more] = a < b ? [a, b] : [b, a]
        const fee = (size: bigint) => rawTradingFeeCollateral(CollateralAmount.of(size), isCounterTrade, LISTING, USDC)
        assert.ok(fee(less) <= fee(more))
      }),
    )
  })
})
