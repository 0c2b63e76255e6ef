import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CollateralAmount,
  HUNDRED_PERCENT,
  PendingOrderType,
  PercentP,
  Price,
  Usd,
  withScales,
  type Hex,
} from '@bezel/protocol'
import { decodeLog, type DiamondEvent, type EventOf } from '../../chain/events.ts'
import type { LiquidationParams, Market, Trade } from './chainState.ts'
import { positionSizeCollateral, tokensOfCollateral } from './collateralAmounts.ts'
import { rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { liquidationPriceOwing } from './liquidation.ts'
import { shiftPrice } from './priceImpact.ts'
import { profitP } from './profit.ts'
import { quoteOpen } from './quotes.ts'
import { increasedOpenPrice, increasedSize } from './resizing.ts'
import { LIQUIDATION, MARKET, MOMENT, TRADE, USDC } from './testing/fixtures.ts'
import liveLogs from './testing/liveLogs.json' with { type: 'json' }

// Four executions of the live Diamond. A log does not tell everything that its numbers were computed from. Added here
// are settings of the pair, and two facts of the trade from before: its open price, and the fees that it carried. Each
// of those follows from one number of the log; the others must then come out, all to the last digit.

function eventAt<Name extends DiamondEvent['name']>(at: number, name: Name): EventOf<Name> {
  const { topics, data } = liveLogs.logs[at]!
  const event = decodeLog({ topics: topics as Hex[], data: data as Hex })
  assert.equal(event?.name, name)
  return event as EventOf<Name>
}

/** The fees of these trades are above the floor of their pairs. */
const NO_FLOOR = Usd.zero

/** A market with a fee (in percent) on every size, no depth and no skew. */
function marketWith(of: { readonly spreadP: bigint; readonly feePercent: number }): Market {
  const feeP = PercentP.of(Math.round(of.feePercent * 1e10))
  return { ...MARKET, listing: { ...MARKET.listing, spreadP: PercentP.of(of.spreadP), feeP } }
}

describe('logs of the live Diamond', () => {
  it('an open: price, size in tokens and liquidation price', () => {
    const { args } = eventAt(0, 'MarketExecuted')
    // The group of minor forex pairs: 90 % up to 75x, falling to 70 % at 250x; its fee is 0.016 %.
    const liquidationParams: LiquidationParams = {
      maxLiqSpreadP: 200_000_000,
      startLiqThresholdP: 900_000_000_000,
      endLiqThresholdP: 700_000_000_000,
      startLeverage: 75_000,
      endLeverage: 250_000,
    }
    const plain = marketWith({ spreadP: 2n * args.priceImpact.fixedSpreadP, feePercent: 0.016 })
    const market = { ...plain, listing: { ...plain.listing, liquidationParams } }
    const quote = quoteOpen(withScales<Trade>(args.t), Price.of(args.oraclePrice), market, MOMENT)
    assert.equal(quote.impact.priceAfterImpact, 2_083_721_680_875n)
    assert.equal(quote.impact.positionSizeToken, 47_991_054_140_209_275_754n)
    assert.equal(quote.liquidationPrice, 2_066_334_511_821n)
    assert.deepEqual(quote.impact, args.priceImpact)
  })

  it('a size increase of a short at 500x', () => {
    const { args } = eventAt(1, 'PositionSizeIncreaseExecuted')
    const { values } = args
    const market = marketWith({ spreadP: 0n, feePercent: 0.02 })
    // The threshold of this group at 500x is 80 %.
    const params = { ...LIQUIDATION, endLiqThresholdP: 800_000_000_000 }
    const carried = 457_884n
    const trade: Trade = {
      ...TRADE,
      long: false,
      leverage: 500_000,
      collateralAmount: CollateralAmount.of(4_300_000n),
      openPrice: Price.of(827_985_380_000_000n),
    }
    const grown = increasedSize(trade, CollateralAmount.of(args.collateralDelta), Number(args.leverageDelta))
    assert.equal(grown.collateralAmount, values.newCollateralAmount)
    assert.equal(BigInt(grown.leverage), values.newLeverage)
    assert.equal(grown.addedSizeCollateral, values.positionSizeCollateralDelta)
    const executed = Price.of(args.oraclePrice)
    assert.equal(tokensOfCollateral(grown.addedSizeCollateral, executed, USDC), values.priceImpact.positionSizeToken)
    const openPrice = increasedOpenPrice(trade, grown.addedSizeCollateral, executed)
    assert.equal(openPrice, 827_601_704_196_923n)

    const feeOf = (size: CollateralAmount): CollateralAmount =>
      rawTradingFeeCollateral(size, false, { ...market.listing, minPositionSizeUsd: NO_FLOOR }, USDC)
    const fee = feeOf(grown.addedSizeCollateral)
    assert.equal(fee, 336_282n)
    const liqPrice = (of: Trade, owed: bigint): Price =>
      liquidationPriceOwing(CollateralAmount.of(feeOf(positionSizeCollateral(of)) + owed), of, params, market)
    assert.equal(liqPrice(trade, carried), values.existingLiqPrice)
    const { collateralAmount, leverage } = grown
    assert.equal(liqPrice({ ...trade, collateralAmount, leverage, openPrice }, carried + fee), 828_588_803_173_188n)
  })

  it('a leverage decrease with a loss', () => {
    const { args } = eventAt(2, 'PositionSizeDecreaseExecuted')
    const { values } = args
    const { priceImpact } = values
    const shifted = shiftPrice(Price.of(args.oraclePrice), PercentP.of(priceImpact.totalPriceImpactP))
    assert.equal(shifted, priceImpact.priceAfterImpact)
    const trade: Trade = {
      ...TRADE,
      leverage: 3_964,
      collateralAmount: CollateralAmount.of(values.newCollateralAmount),
      openPrice: Price.of(2_598_590_301_682n),
    }
    const whole = positionSizeCollateral(trade)
    const closed = positionSizeCollateral({ ...trade, leverage: Number(args.leverageDelta) })
    assert.deepEqual([whole, closed], [values.existingPositionSizeCollateral, values.positionSizeCollateralDelta])
    const pnlP = profitP(trade, shifted)
    assert.equal(pnlP, values.existingPnlPercent)
    assert.equal((pnlP * trade.collateralAmount * closed) / whole / HUNDRED_PERCENT, -1_463_000_362n)

    const market = marketWith({ spreadP: 0n, feePercent: 0.05 })
    const feeOf = (size: CollateralAmount): CollateralAmount =>
      rawTradingFeeCollateral(size, false, { ...market.listing, minPositionSizeUsd: NO_FLOOR }, USDC)
    const fee = tieredFeeCollateral(feeOf(closed), { ...market.terms, feeMultiplier: 975 })
    assert.equal(fee, 3_355_603n)

    const carried = 2_459_459n
    const liqPrice = (of: Trade, owed: bigint): Price =>
      liquidationPriceOwing(CollateralAmount.of(feeOf(positionSizeCollateral(of)) + owed), of, LIQUIDATION, market)
    assert.equal(liqPrice(trade, carried), values.existingLiqPrice)
    const rest = { ...trade, leverage: values.newLeverage }
    assert.equal(liqPrice(rest, carried + fee - values.pnlToRealizeCollateral), 1_903_589_971_395n)
  })

  it('a liquidation: the loss by the price is less than all, and nothing is paid out', () => {
    const { args } = eventAt(3, 'LimitExecuted')
    assert.equal(args.orderType, PendingOrderType.LIQ_CLOSE)
    // Executed at the oracle's price, without spread and impact.
    assert.equal(args.marketPrice, args.oraclePrice)
    assert.equal(profitP(withScales<Trade>(args.t), Price.of(args.marketPrice)), -243_694_381_034n)
    assert.equal(args.amountSentToTrader, 0n)
  })
})
