import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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

const WETH = { precision: 10n ** 18n, precisionDelta: 1n, priceUsd: 2_500n * 10n ** 8n }
const amounts = fc.bigInt(1n, 10n ** 24n)

describe('amounts of collateral', () => {
  it('a size is truncated to the unit', () => {
    assert.equal(positionSizeCollateral({ collateralAmount: 1n, leverage: 1_999 }), 1n)
    assert.equal(positionSizeCollateral({ collateralAmount: usdc(100), leverage: 1_100 }), usdc(110))
  })

  it('USD take the price of the collateral into account', () => {
    assert.equal(usdOfCollateral(10n ** 18n, WETH), 2_500n * 10n ** 18n)
    assert.equal(usdOfCollateral(usdc(2), { ...USDC, priceUsd: 99_000_000n }), 198n * 10n ** 16n)
  })

  it('the way to USD and back never gives more than it got, and loses at most one unit', () => {
    fc.assert(
      fc.property(amounts, fc.bigInt(1n, 10n ** 13n), (amount, priceUsd) => {
        for (const collateral of [
          { ...USDC, priceUsd },
          { ...WETH, priceUsd },
        ]) {
          const back = collateralOfUsd(usdOfCollateral(amount, collateral), collateral)
          assert.ok(back <= amount)
          // One unit of the token is worth at least one of the 1e18 USD from a price of 1e8 / 1e18 on.
          if (priceUsd >= 10n ** 8n) assert.ok(back >= amount - 1n)
        }
      }),
    )
  })

  it('tokens count in units of the collateral, whatever it costs', () => {
    assert.equal(tokensOfCollateral(10n ** 18n, price(100), WETH), 10n ** 16n)
    assert.equal(collateralOfTokens(10n ** 16n, price(100), WETH), 10n ** 18n)
    assert.equal(collateralOfTokens(-(10n ** 16n), price(100), WETH), -(10n ** 18n))
  })

  it('the size people count is USD by price: 1 WETH at 2500 USD is 25 units of a pair at 100', () => {
    const size = tokensOfCollateral(10n ** 18n, price(100), WETH)
    assert.equal(baseSizeOfTokens(size, WETH.priceUsd), 25n * 10n ** 18n)
  })
})
