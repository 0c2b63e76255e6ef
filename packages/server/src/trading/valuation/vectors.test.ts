import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, Price } from '@bezel/protocol'
import { positionSizeCollateral, collateralOfUsd } from './collateralAmounts.ts'
import type { PairState, ValuedPosition } from './chainState.ts'
import { quoteClose, quoteOpen } from './quotes.ts'
import { cancelFeeCollateral } from './fees.ts'
import { fundingVelocityPerYear, pendingFunding } from './funding.ts'
import { holdingFees } from './holdingFees.ts'
import {
  liquidationPrice,
  liquidationPriceOwing,
  liquidationThresholdP,
  clampStopLoss,
  maxStopLossP,
} from './liquidation.ts'
import { skewImpactP } from './priceImpact.ts'
import * as fixture from './testing/fixtures.ts'

const { LIQUIDATION, LISTING, MARKET, MOMENT, POSITION, price, QUIET_PAIR, tokens, TRADE, USDC, usdc } = fixture

// The same vectors run against the chain itself in contracts/test/vectors.test.ts.
describe('the worked vectors', () => {
  it('long 100 USDC at 10x, oracle 60000, spread 0.04 %, no depth', () => {
    const { impact, openingFeeCollateral, liquidationPrice: liqPrice } = quoteOpen(TRADE, price(60_000), MARKET, MOMENT)
    assert.equal(positionSizeCollateral(TRADE), 1_000_000_000n)
    assert.equal(collateralOfUsd(LISTING.minPositionSizeUsd, USDC), 1_250_000_000n)
    assert.equal(openingFeeCollateral, 750_000n)
    assert.equal(impact.priceAfterImpact, 600_120_000_000_000n)
    assert.equal(impact.positionSizeToken, 16_663_333_999_866_693n)
    assert.equal(liqPrice, 547_129_404_000_000n)
  })

  it('the position that became of it has the same liquidation price', () => {
    assert.equal(liquidationPrice(POSITION, MARKET, price(60_000), MOMENT), 547_129_404_000_000n)
  })

  it('the same closed at oracle 63000', () => {
    const quote = quoteClose(POSITION, price(63_000), MARKET, MOMENT)
    assert.equal(quote.impact.priceAfterImpact, 629_874_000_000_000n)
    assert.equal(quote.profitP, 495_800_839_832n)
    assert.equal(quote.payoutCollateral, 148_080_083n)
  })

  it('cancel fee at a governance share of 24.5 %', () => {
    assert.equal(cancelFeeCollateral(24_500, MARKET), 91_875n)
  })

  it('liquidation threshold at 25x, 40x, 60x', () => {
    const thresholds = [25_000, 40_000, 60_000].map((leverage) => liquidationThresholdP(LIQUIDATION, leverage))
    assert.deepEqual(thresholds, [900_000_000_000n, 835_714_285_715n, 750_000_000_000n])
  })

  it('short 40x at 60000 with fees 2 x 2400000', () => {
    const short = { ...TRADE, long: false, leverage: 40_000, openPrice: price(60_000) }
    assert.equal(
      liquidationPriceOwing(CollateralAmount.of(4_800_000n), short, LIQUIDATION, MARKET),
      611_695_714_285_725n,
    )
    assert.equal(quoteOpen(short, price(60_000), MARKET, MOMENT).openingFeeCollateral, 2_400_000n)
  })

  it('stop loss clamp at 10x', () => {
    const trade = { ...TRADE, openPrice: price(60_000), sl: Price.of(1n) }
    assert.equal(maxStopLossP(trade, LIQUIDATION, LISTING), 838_000_000_000n)
    assert.equal(price(60_000) - clampStopLoss(trade, LIQUIDATION, LISTING), 50_280_000_000_000n)
  })

  it('skew: net +10 tokens, buy 2, depth 1000 tokens', () => {
    const pair = { ...QUIET_PAIR, oiLongToken: tokens(10), skewDepth: tokens(1_000) }
    assert.equal(skewImpactP(true, tokens(2), pair), 55_000_000n)
  })

  it('funding: net 100000 tokens, coefficient 1e28, cap 10000, one hour from rate 0 at 15', () => {
    const pair: PairState = {
      ...QUIET_PAIR,
      oiLongToken: tokens(100_000),
      fundingParams: {
        skewCoefficientPerYear: 10n ** 28n,
        absoluteVelocityPerYearCap: 10_000,
        absoluteRatePerSecondCap: 3_170_978,
        thetaThresholdUsd: 100_000,
        fundingFeesEnabled: true,
        aprMultiplierEnabled: false,
      },
    }
    assert.equal(fundingVelocityPerYear(pair.fundingParams, tokens(100_000), price(15), USDC), 10_000_000n)
    const pending = pendingFunding(pair, USDC, price(15), 1_000 + 3_600)
    assert.equal(pending.fundingRatePerSecondP, 114_155_251_141n)
    assert.equal(pending.accFundingFeeLongP, 308_219_178_078_000_000n)
    const position = positionAt15()
    assert.equal(
      holdingFees(position, pair, USDC, price(15), { ...MOMENT, timestampS: 1_000 + 3_600 }).fundingFeeCollateral,
      2_054n,
    )
  })

  it('borrowing v2: rate 31710 for one day, price unchanged', () => {
    const pair = { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 31_710 } }
    const fees = holdingFees(positionAt15(), pair, USDC, price(15), { ...MOMENT, timestampS: 1_000 + 86_400 })
    assert.equal(fees.borrowingFeeCollateral, 2_739_744n)
    assert.equal(fees.totalFeeCollateral, 2_739_744n)
  })
})

/** Builds a position of 1000 USDC, opened at 15. */
function positionAt15(): ValuedPosition {
  return { ...POSITION, trade: { ...TRADE, collateralAmount: usdc(100), openPrice: price(15) } }
}
