import { CollateralAmount, HUNDRED_PERCENT, PercentP, Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ValuedPosition } from './chainState.ts'
import {
  isLiquidationReached,
  liquidationPrice,
  liquidationPriceOwing,
  liquidationThresholdP,
  clampStopLoss,
  maxStopLossP,
} from './liquidation.ts'
import { LIQUIDATION, LISTING, MARKET, MOMENT, POSITION, price, QUIET_PAIR, TRADE, usdc } from './testing/fixtures.ts'

const trades = fc.record({
  long: fc.boolean(),
  leverage: fc.integer({ min: 1_100, max: 200_000 }),
  collateralAmount: fc.bigInt(usdc(4), usdc(1_000_000)).map(CollateralAmount.of),
  openPrice: fc.bigInt(10n ** 9n, 10n ** 16n).map(Price.of),
})

describe('liquidation threshold', () => {
  it('falls with the leverage between the two that bound it', () => {
    const leverage = fc.integer({ min: 100, max: 100_000 })
    fc.assert(
      fc.property(leverage, leverage, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        assert.ok(liquidationThresholdP(LIQUIDATION, low) >= liquidationThresholdP(LIQUIDATION, high))
      }),
    )
  })

  it('is 90 % for trades without parameters', () => {
    assert.equal(liquidationThresholdP({ ...LIQUIDATION, maxLiqSpreadP: 0 }, 100_000), 900_000_000_000n)
  })
})

describe('liquidation price', () => {
  it('without fees: of a long below its open price, of a short above', () => {
    fc.assert(
      fc.property(trades, (terms) => {
        const trade = { ...TRADE, ...terms }
        const at = liquidationPriceOwing(CollateralAmount.zero, trade, LIQUIDATION, MARKET)
        assert.ok(trade.long ? at < trade.openPrice : at > trade.openPrice)
      }),
    )
  })

  it('moves toward the trader with every fee', () => {
    fc.assert(
      fc.property(trades, fc.bigInt(0n, usdc(100)), fc.bigInt(0n, usdc(100)), (terms, fee, more) => {
        const trade = { ...TRADE, ...terms }
        const less = liquidationPriceOwing(CollateralAmount.of(fee), trade, LIQUIDATION, MARKET)
        const nearer = liquidationPriceOwing(CollateralAmount.of(fee + more), trade, LIQUIDATION, MARKET)
        assert.ok(trade.long ? nearer >= less : nearer <= less)
      }),
    )
  })

  it('moves away when the position has realised a profit', () => {
    const rich: ValuedPosition = { ...POSITION, feesData: { ...POSITION.feesData, realizedPnlCollateral: usdc(10) } }
    const at = (position: ValuedPosition) => liquidationPrice(position, MARKET, price(60_000), MOMENT)
    assert.ok(at(rich) < at(POSITION))
  })

  it('moves toward the trader as borrowing accrues', () => {
    const market = { ...MARKET, pair: { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 31_710 } } }
    const at = (timestampS: number) => liquidationPrice(POSITION, market, price(60_000), { ...MOMENT, timestampS })
    assert.ok(at(90_000) > at(1_000))
  })

  it('half of the spread counts, up to the cap of the parameters', () => {
    const wide = (spreadP: bigint) =>
      liquidationPriceOwing(CollateralAmount.zero, TRADE, LIQUIDATION, {
        ...MARKET,
        listing: { ...LISTING, spreadP: PercentP.of(spreadP) },
      })
    assert.ok(wide(400_000_000n) > wide(0n))
    assert.equal(wide(1_000_000_000n), wide(10_000_000_000n))
  })

  it('is never negative', () => {
    assert.equal(liquidationPriceOwing(CollateralAmount.of(-usdc(10_000)), TRADE, LIQUIDATION, MARKET), 0n)
  })

  it('is reached at, not only beyond it', () => {
    assert.deepEqual(
      [9n, 10n, 11n].map((at) => isLiquidationReached(Price.of(10n), true, Price.of(at))),
      [true, true, false],
    )
    assert.deepEqual(
      [9n, 10n, 11n].map((at) => isLiquidationReached(Price.of(10n), false, Price.of(at))),
      [false, true, true],
    )
  })
})

describe('stop loss', () => {
  it('stays as asked where it may stand, and none stays none', () => {
    assert.equal(clampStopLoss({ ...TRADE, sl: Price.zero }, LIQUIDATION, LISTING), 0n)
    assert.equal(clampStopLoss({ ...TRADE, sl: price(59_000) }, LIQUIDATION, LISTING), price(59_000))
  })

  it('is impossible when fees and buffer use up the threshold', () => {
    const dear = { ...LISTING, feeP: PercentP.of(50_000_000_000n) }
    assert.equal(clampStopLoss({ ...TRADE, sl: price(59_000) }, LIQUIDATION, dear), 0n)
    assert.equal(maxStopLossP(TRADE, LIQUIDATION, dear), 0n)
  })

  it('a counter trade pays less fee, so it may stand further', () => {
    const counter = { ...TRADE, isCounterTrade: true }
    assert.ok(maxStopLossP(counter, LIQUIDATION, LISTING) > maxStopLossP(TRADE, LIQUIDATION, LISTING))
  })

  it('is moved to the same place however far it was asked for, and clamping again changes nothing', () => {
    fc.assert(
      fc.property(trades, fc.bigInt(1n, 10n ** 17n), (terms, distance) => {
        const { openPrice, long } = terms
        const asked = long ? (distance < openPrice ? openPrice - distance : 1n) : openPrice + distance
        const once = clampStopLoss({ ...TRADE, ...terms, sl: Price.of(asked) }, LIQUIDATION, LISTING)
        const twice = clampStopLoss({ ...TRADE, ...terms, sl: once }, LIQUIDATION, LISTING)
        assert.equal(twice, once)
        if (once !== 0n) assert.ok(long ? once >= asked : once <= asked)
      }),
    )
  })

  it('always lies inside the liquidation price without carried fees', () => {
    fc.assert(
      fc.property(trades, (terms) => {
        const trade = { ...TRADE, ...terms, sl: Price.of(terms.long ? 1n : terms.openPrice * 100n) }
        const sl = clampStopLoss(trade, LIQUIDATION, LISTING)
        const fees = (2n * trade.collateralAmount * BigInt(trade.leverage) * LISTING.feeP) / HUNDRED_PERCENT / 1_000n
        const liqPrice = liquidationPriceOwing(CollateralAmount.of(fees), trade, LIQUIDATION, MARKET)
        // Up to 250x, the spread inside the liquidation price is worth less than the 5 % buffer.
        if (sl > 0n) assert.ok(trade.long ? sl > liqPrice : sl < liqPrice)
      }),
    )
  })
})
