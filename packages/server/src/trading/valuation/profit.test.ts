import { CollateralAmount, HUNDRED_PERCENT, PercentP, Price, withScales } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TradeFeesData } from './chainState.ts'
import { grossValueCollateral, profitP, realizedCollateral, tradeValueCollateral } from './profit.ts'
import { POSITION, price, TRADE, USDC, usdc } from './testing/fixtures.ts'

const prices = fc.bigInt(1n, 10n ** 18n)
const leverages = fc.integer({ min: 100, max: 1_000_000 })

describe('profit', () => {
  it('of a long at 10x: one percent of the price is ten of the collateral', () => {
    const trade = { ...TRADE, openPrice: price(100) }
    assert.equal(profitP(trade, price(101)), 10n * 10n ** 10n)
    assert.equal(profitP({ ...trade, long: false }, price(101)), -10n * 10n ** 10n)
  })

  it('a long and a short of the same trade mirror each other above the floor', () => {
    fc.assert(
      fc.property(prices, prices, leverages, (openPrice, at, leverage) => {
        const long = profitP({ long: true, openPrice: Price.of(openPrice), leverage }, Price.of(at))
        const short = profitP({ long: false, openPrice: Price.of(openPrice), leverage }, Price.of(at))
        assert.ok(long >= -HUNDRED_PERCENT && short >= -HUNDRED_PERCENT)
        if (long > -HUNDRED_PERCENT && short > -HUNDRED_PERCENT) assert.equal(long, -short)
      }),
    )
  })

  it('of a long never falls when the price rises', () => {
    fc.assert(
      fc.property(prices, prices, prices, leverages, (openPrice, a, b, leverage) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        const trade = { long: true, openPrice: Price.of(openPrice), leverage }
        assert.ok(profitP(trade, Price.of(low)) <= profitP(trade, Price.of(high)))
      }),
    )
  })

  it('there is none without an open price', () => {
    assert.equal(profitP({ ...TRADE, openPrice: Price.zero }, price(1)), 0n)
  })
})

describe('value of a trade', () => {
  it('at -100 % it is worth nothing, and never less', () => {
    assert.equal(grossValueCollateral(usdc(100), PercentP.of(-HUNDRED_PERCENT), USDC), 0n)
    assert.equal(tradeValueCollateral(usdc(100), PercentP.of(-HUNDRED_PERCENT), CollateralAmount.of(1n), USDC), 0n)
  })

  it('what it is owed (realised profit) adds to it', () => {
    assert.equal(tradeValueCollateral(usdc(100), PercentP.zero, CollateralAmount.of(-5n), USDC), usdc(100) + 5n)
  })

  it('realised: profit less trading fees', () => {
    const feesData = withScales<TradeFeesData>({
      ...POSITION.feesData,
      realizedPnlCollateral: -20n,
      realizedTradingFeesCollateral: 30n,
    })
    assert.equal(realizedCollateral(feesData), -50n)
  })
})
