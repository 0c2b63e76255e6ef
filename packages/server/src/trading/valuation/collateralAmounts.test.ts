import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, CollateralPrice, TokenSize } from '@bezel/protocol'
import fc from 'fast-check'
import {
  baseSizeOfTokens,
  collateralOfTokens,
  collateralOfUsd,
  positionSizeCollateral,
  tokensOfCollateral,
  usdOfCollateral,
} from './collateralAmounts.ts'
import { price, USDC, usdc } from './testing/fixtures.ts'

const WETH = { precision: 10n ** 18n, precisionDelta: 1n, priceUsd: CollateralPrice.of(2_500n * CollateralPrice.one) }
const amounts = fc.bigInt(1n, 10n ** 24n)

describe('amounts of collateral', () => {
  it('a size is truncated to the unit', () => {
    assert.equal(positionSizeCollateral({ collateralAmount: CollateralAmount.of(1n), leverage: 1_999 }), 1n)
    assert.equal(positionSizeCollateral({ collateralAmount: usdc(100), leverage: 1_100 }), usdc(110))
  })

  it('USD take the price of the collateral into account', () => {
    assert.equal(usdOfCollateral(CollateralAmount.of(10n ** 18n), WETH), 2_500n * 10n ** 18n)
    assert.equal(usdOfCollateral(usdc(2), { ...USDC, priceUsd: CollateralPrice.of(99_000_000n) }), 198n * 10n ** 16n)
  })

  it('the way to USD and back never gives more than it got, and loses at most one unit', () => {
    fc.assert(
      fc.property(amounts, fc.bigInt(1n, 10n ** 13n), (amount, dollars) => {
        const priceUsd = CollateralPrice.of(dollars)
        for (const collateral of [
          { ...USDC, priceUsd },
          { ...WETH, priceUsd },
        ]) {
          const back = collateralOfUsd(usdOfCollateral(CollateralAmount.of(amount), collateral), collateral)
          assert.ok(back <= amount)
          // From a price of 1e8 / 1e18 on, one unit of the token is worth at least one unit of USD (1e18).
          if (priceUsd >= 10n ** 8n) assert.ok(back >= amount - 1n)
        }
      }),
    )
  })

  it('tokens count in units of the collateral, whatever it costs', () => {
    assert.equal(tokensOfCollateral(CollateralAmount.of(10n ** 18n), price(100), WETH), 10n ** 16n)
    assert.equal(collateralOfTokens(TokenSize.of(10n ** 16n), price(100), WETH), 10n ** 18n)
    assert.equal(collateralOfTokens(TokenSize.of(-(10n ** 16n)), price(100), WETH), -(10n ** 18n))
  })

  it('the size people count is USD by price: 1 WETH at 2500 USD is 25 units of a pair at 100', () => {
    const size = tokensOfCollateral(CollateralAmount.of(10n ** 18n), price(100), WETH)
    assert.equal(baseSizeOfTokens(size, WETH.priceUsd), 25n * 10n ** 18n)
  })
})
