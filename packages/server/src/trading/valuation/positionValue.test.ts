import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, ContractsVersion, PercentP, Price, TokenSize, TradeType } from '@bezel/protocol'
import fc from 'fast-check'
import { NO_OLD_BORROWING, type Market, type ValuedPosition } from './chainState.ts'
import { quoteClose } from './quotes.ts'
import { effectiveLeverage, partByCollateral, partByLeverage, increasedOpenPrice, increasedSize } from './resizing.ts'
import { holdingFees } from './holdingFees.ts'
import { valuePosition } from './positionValue.ts'
import { LISTING, MARKET, MOMENT, POSITION, price, QUIET_PAIR, tokens, TRADE, USDC, usdc } from './testing/fixtures.ts'

const A_DAY_LATER = { ...MOMENT, timestampS: MOMENT.timestampS + 86_400 }

/** First-generation borrowing of which longs owe 0.0001 %. */
const OLD_BORROWING = { ...NO_OLD_BORROWING, data: { ...NO_OLD_BORROWING.data, accFeeLong: 1_000_000n } }

const at = (usd: number) => ({ mark: price(usd), index: price(usd) })

/** A market without spread, so that value and payout differ by the fee only. */
const FRICTIONLESS: Market = { ...MARKET, listing: { ...LISTING, spreadP: PercentP.zero } }

describe('value of a position', () => {
  it('right after opening it is down by spread and opening fee', () => {
    const value = valuePosition(POSITION, at(60_000), MARKET, MOMENT)
    // The loss is 0.02 % x 10 of 100 USDC, rounded to 0.1999601, and the fee 0.75.
    assert.equal(value.unrealizedPnlCollateral, -199_961n - 750_000n)
    assert.equal(value.unrealizedPnlP, -9_499_610_000n)
    assert.equal(value.liquidationPrice, 547_129_404_000_000n)
  })

  it('pending fees lower it and are shown, positive when the trader pays', () => {
    const pair = { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 31_710 }, oldBorrowing: OLD_BORROWING }
    const value = valuePosition(POSITION, at(60_000), { ...MARKET, pair }, A_DAY_LATER)
    const fees = holdingFees(POSITION, pair, USDC, price(60_000), A_DAY_LATER)
    // 0.0001 % of 1000 USDC.
    assert.equal(fees.oldBorrowingFeeCollateral, 1_000n)
    assert.equal(value.borrowingFeeCollateral, fees.borrowingFeeCollateral + 1_000n)
    const without = valuePosition(POSITION, at(60_000), MARKET, MOMENT)
    const lost = without.unrealizedPnlCollateral - value.unrealizedPnlCollateral
    assert.equal(lost, value.borrowingFeeCollateral + value.fundingFeeCollateral)
  })

  it('is measured at the mark shifted by the skew; trades from before v10 know no skew', () => {
    const pair = { ...QUIET_PAIR, oiLongToken: tokens(20), skewDepth: tokens(1_000) }
    const market = { ...MARKET, pair }
    const value = valuePosition(POSITION, at(60_000), market, MOMENT)
    assert.equal(value.marketPrice, price(60_006), 'half of 20 / 1000 is 0.01 %')
    const old: ValuedPosition = { ...POSITION, info: { ...POSITION.info, contractsVersion: ContractsVersion.V9_2 } }
    assert.equal(valuePosition(old, at(60_000), market, MOMENT).marketPrice, price(60_000))
  })

  it('mark and index have their own parts: profit and liquidation', () => {
    const base = valuePosition(POSITION, at(60_000), MARKET, MOMENT)
    const apart = valuePosition(POSITION, { mark: price(60_000), index: price(50_000) }, MARKET, MOMENT)
    assert.equal(apart.unrealizedPnlCollateral, base.unrealizedPnlCollateral)
  })

  it('is the payout of a close without spread and skew, but for the closing fee', () => {
    fc.assert(
      fc.property(fc.integer({ min: 55_000, max: 90_000 }), (usd) => {
        const quote = quoteClose(POSITION, price(usd), FRICTIONLESS, MOMENT)
        const { unrealizedPnlCollateral } = valuePosition(POSITION, at(usd), FRICTIONLESS, MOMENT)
        const worth = TRADE.collateralAmount + unrealizedPnlCollateral - quote.closingFeeCollateral
        assert.equal(quote.payoutCollateral, worth > 0n ? worth : 0n)
      }),
    )
  })

  it('a fee tier lowers the closing fee, so the payout is higher', () => {
    const tiered = { ...FRICTIONLESS, terms: { ...FRICTIONLESS.terms, feeMultiplier: 800 } }
    const full = quoteClose(POSITION, price(60_000), FRICTIONLESS, MOMENT)
    const less = quoteClose(POSITION, price(60_000), tiered, MOMENT)
    assert.equal(less.closingFeeCollateral, 600_000n)
    assert.equal(less.payoutCollateral - full.payoutCollateral, 150_000n)
  })
})

describe('holding fees', () => {
  const pair = { ...QUIET_PAIR, borrowingParams: { borrowingRatePerSecondP: 31_710 } }
  const later = (position: ValuedPosition) => holdingFees(position, pair, USDC, price(60_000), A_DAY_LATER)

  it('resting orders owe nothing', () => {
    const order = { ...POSITION, trade: { ...TRADE, tradeType: TradeType.LIMIT } }
    assert.equal(later(order).totalFeeCollateral, 0n)
  })

  it('trades from before v10 have no funding', () => {
    const funded = { ...pair, fundingData: { ...pair.fundingData, accFundingFeeLongP: 10n ** 20n * price(60_000) } }
    const of = (contractsVersion: number) =>
      holdingFees({ ...POSITION, info: { ...POSITION.info, contractsVersion } }, funded, USDC, price(60_000), MOMENT)
    assert.ok(of(ContractsVersion.V10).fundingFeeCollateral > 0n)
    assert.equal(of(ContractsVersion.V9_2).fundingFeeCollateral, 0n)
  })

  it('truncate toward zero: what is earned is the smaller amount', () => {
    const earning = { ...pair, fundingData: { ...pair.fundingData, accFundingFeeLongP: -(10n ** 18n) } }
    const fees = holdingFees(POSITION, earning, USDC, price(60_000), MOMENT)
    assert.equal(fees.fundingFeeCollateral, -1n, '-1.66 becomes -1')
  })
})

describe('changes of a position', () => {
  it('an increase averages the open price, rounded against the trader', () => {
    const trade = { ...TRADE, openPrice: Price.of(100n) }
    // The old size has gained 1 % at the execution price, so that it weighs a little more (less for a short).
    const long = increasedOpenPrice(trade, usdc(1_000), Price.of(101n))
    const short = increasedOpenPrice({ ...trade, long: false }, usdc(1_000), Price.of(101n))
    assert.deepEqual([long, short], [101n, 100n])
    const far = { ...TRADE, openPrice: price(100) }
    const [up, down] = [price(110), price(90)].map((executed) => increasedOpenPrice(far, usdc(1_000), executed))
    // 1100 at 100 and 1000 at 110; 900 at 100 and 1000 at 90.
    assert.deepEqual([up, down], [1_047_619_047_620n, 947_368_421_053n])
  })

  it('an increase gains what the truncated leverage leaves', () => {
    const grown = increasedSize(TRADE, usdc(50), 7_000)
    assert.deepEqual(grown, { collateralAmount: usdc(150), leverage: 9_000, addedSizeCollateral: usdc(350) })
    assert.deepEqual(increasedSize(TRADE, CollateralAmount.zero, 3_000).leverage, 13_000)
    const odd = increasedSize({ ...TRADE, collateralAmount: CollateralAmount.of(7n) }, CollateralAmount.of(3n), 1_000)
    assert.deepEqual([odd.leverage, odd.addedSizeCollateral], [7_300, 3n])
  })

  it('effective leverage rises as the value falls, and has no number when there is none', () => {
    const flat = { ...TRADE, openPrice: price(100) }
    assert.equal(effectiveLeverage(flat, CollateralAmount.zero, price(100), USDC), 10_000n)
    assert.equal(effectiveLeverage(flat, usdc(50), price(100), USDC), 20_000n)
    assert.equal(effectiveLeverage(flat, usdc(100), price(100), USDC), undefined)
  })

  it('a part has its share of the tokens, truncated', () => {
    assert.equal(partByCollateral({ ...TRADE, positionSizeToken: TokenSize.of(10n) }, usdc(33)).positionSizeToken, 3n)
    assert.equal(partByLeverage({ ...TRADE, positionSizeToken: TokenSize.of(10n) }, 3_300).positionSizeToken, 3n)
  })
})
