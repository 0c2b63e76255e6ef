import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PercentP } from '@bezel/protocol'
import type { DepthBook, Market } from './chainState.ts'
import { quoteClose, quotePartialClose } from './quotes.ts'
import { partByCollateral } from './resizing.ts'
import { LISTING, MARKET, MOMENT, POSITION, price, TRADE, usdc } from './testing/fixtures.ts'

/**
 * A depth of 1,000,000 USD within 100 ppm: a size of 1000 USD moves the price by 0.025 ppm, and by 6.5 times that with
 * the protection factor.
 */
const depth: DepthBook = { totalDepthUsd: 1_000_000n, sharesBps: [10_000n], offsetsPpm: [100n] }
const DEEP: Market = {
  ...MARKET,
  listing: { ...LISTING, spreadP: PercentP.zero, depthAbove: depth, depthBelow: depth },
}
const UNPROTECTED_P = -25_000n
const PROTECTED_P = -162_500n

/** The position of the fixtures, opened at exactly 60000. */
const position = { ...POSITION, trade: { ...TRADE, openPrice: price(60_000) } }

describe('quote of a close', () => {
  const impactAt = (usd: number) => quoteClose(position, price(usd), DEEP, MOMENT).impact.cumulVolPriceImpactP

  it('has a profit to protect only when more comes out than went in, fees and all', () => {
    // At 10x, 0.1 % of the price is 1 USDC; both fees are 1.50.
    assert.equal(impactAt(60_060), UNPROTECTED_P)
    assert.equal(impactAt(60_100), PROTECTED_P)
    assert.equal(impactAt(59_000), UNPROTECTED_P)
  })

  it('counts holding fees at the current price, whatever price it executes at', () => {
    const pair = { ...DEEP.pair, borrowingParams: { borrowingRatePerSecondP: 317_097 } }
    const later = { ...MOMENT, timestampS: MOMENT.timestampS + 86_400 }
    const atOwn = quoteClose(position, price(60_000), { ...DEEP, pair }, later)
    const atOther = quoteClose(position, price(60_000), { ...DEEP, pair }, later, price(30_000))
    assert.equal(atOther.impact.priceAfterImpact, atOwn.impact.priceAfterImpact)
    const half = (usdc(1_000) * 317_097n * 86_400n) / 2n / 10n ** 12n
    assert.equal(atOther.payoutCollateral - atOwn.payoutCollateral, half)
  })
})

describe('quote of a partial close', () => {
  const part = partByCollateral(position.trade, usdc(50))
  const quoteAt = (usd: number) => quotePartialClose(position, part, price(usd), DEEP, MOMENT)

  it('settles its share of the profit and its own fee', () => {
    const quote = quoteAt(59_000)
    assert.equal(quote.closingFeeCollateral, usdc(0.75), 'the floor counts for a part, too')
    assert.ok(quote.rawPnlCollateral < -usdc(8.3) && quote.rawPnlCollateral > -usdc(8.4))
    // Half of the opening fee of 0.75 goes with it.
    assert.equal(quote.rawPnlCollateral - quote.netPnlCollateral, usdc(0.375))
  })

  it('has a profit to protect when closing all of the position would leave one', () => {
    // At 10x, 0.1 % of the price is 1 USDC; both fees of the whole are 1.50.
    assert.equal(quoteAt(60_060).impact.cumulVolPriceImpactP, UNPROTECTED_P / 2n)
    assert.equal(quoteAt(60_100).impact.cumulVolPriceImpactP, PROTECTED_P / 2n)
  })
})
