import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CollateralAmount, ContractsVersion, Price } from '@bezel/protocol'
import { ORDINARY_TERMS, type Market } from './chainState.ts'
import { isImpactTooHigh, priceClose, priceOpen, PriceOutOfRangeError, marketPrice } from './priceImpact.ts'
import { MARKET, MOMENT, POSITION, price, QUIET_PAIR, tokens, TRADE, usdc } from './testing/fixtures.ts'

const SKEWED: Market = { ...MARKET, pair: { ...QUIET_PAIR, oiLongToken: tokens(100), skewDepth: tokens(1_000) } }

describe('execution price', () => {
  it('adds spread, volume and skew into one shift of the oracle price', () => {
    const impact = priceOpen(true, usdc(1_000), price(60_000), SKEWED, MOMENT)
    assert.equal(impact.totalPriceImpactP, impact.fixedSpreadP + impact.cumulVolPriceImpactP + impact.skewPriceImpactP)
    assert.ok(impact.skewPriceImpactP > 500_000_000n, 'more than the skew alone: the trade adds to it')
    assert.equal(impact.positionSizeToken, TRADE.positionSizeToken, 'tokens are counted before the skew')
  })

  it("a trader's own spread comes on top, half of it on each side", () => {
    const market = { ...MARKET, terms: { ...ORDINARY_TERMS, fixedSpreadP: 20 } }
    assert.equal(priceOpen(true, usdc(1_000), price(60_000), market, MOMENT).fixedSpreadP, 300_000_000n)
    assert.equal(priceOpen(false, usdc(1_000), price(60_000), market, MOMENT).fixedSpreadP, -300_000_000n)
  })

  it('trades from before v10 close without skew, those from before v9.2 at the oracle price', () => {
    const closing = (contractsVersion: number) =>
      priceClose(TRADE, usdc(1_000), { ...POSITION.info, contractsVersion }, price(60_000), false, SKEWED, MOMENT)
    assert.notEqual(closing(ContractsVersion.V10).skewPriceImpactP, 0n)
    assert.equal(closing(ContractsVersion.V9_2).skewPriceImpactP, 0n)
    assert.equal(closing(ContractsVersion.V9_2).fixedSpreadP, -200_000_000n)
    assert.equal(closing(ContractsVersion.BEFORE_V9_2).priceAfterImpact, price(60_000))
  })

  it('a price that the chain could not store is refused', () => {
    assert.throws(() => priceOpen(true, usdc(1_000), Price.of(2n ** 64n - 1n), MARKET, MOMENT), PriceOutOfRangeError)
    const crushed = { ...SKEWED, pair: { ...SKEWED.pair, oiLongToken: tokens(0), oiShortToken: tokens(10_000_000) } }
    assert.throws(
      () => priceClose(TRADE, usdc(1_000), POSITION.info, price(1), false, crushed, MOMENT),
      PriceOutOfRangeError,
    )
    assert.equal(marketPrice(price(1), ContractsVersion.V10, crushed.pair), 1n, 'for display it is the smallest price')
  })

  it('is too far off when spread and volume cost more than 40 % of the collateral', () => {
    const impact = priceOpen(true, usdc(1_000), price(60_000), MARKET, MOMENT)
    assert.equal(isImpactTooHigh(impact, true, 2_000_000), false, '0.02 % x 2000 is exactly 40 %')
    assert.equal(isImpactTooHigh(impact, true, 2_000_100), true)
    assert.equal(isImpactTooHigh(impact, false, 2_000_100), false, 'a raised price is good for a short')
  })

  it('a buy never gets a better price than a sell of the same size', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, usdc(5_000_000)), fc.bigInt(price(10_000), price(100_000)), (size, oraclePrice) => {
        const buy = priceOpen(true, CollateralAmount.of(size), Price.of(oraclePrice), SKEWED, MOMENT).priceAfterImpact
        const sell = priceOpen(false, CollateralAmount.of(size), Price.of(oraclePrice), SKEWED, MOMENT).priceAfterImpact
        assert.ok(buy >= sell)
      }),
    )
  })
})
