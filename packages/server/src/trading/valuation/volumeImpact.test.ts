import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Usd } from '@bezel/protocol'
import { ORDINARY_TERMS, type DepthBook, type Market, type PairFactors } from './chainState.ts'
import { MARKET, MOMENT } from './testing/fixtures.ts'
import { closeVolumeImpactP, openVolumeImpactP, activeVolumeUsd, windowIdAt } from './priceImpact.ts'

const USD = Usd.one
const THOUSAND = Usd.of(1_000n * USD)

const PPM = 10n ** 6n

/** A depth of one band: 1000 USD within 100 ppm above, 200 ppm below. */
const above: DepthBook = { totalDepthUsd: 1_000n, sharesBps: [10_000n], offsetsPpm: [100n] }

const below: DepthBook = { totalDepthUsd: 1_000n, sharesBps: [10_000n], offsetsPpm: [200n] }

function marketWith(factors: Partial<PairFactors> = {}, boughtUsd = Usd.zero): Market {
  const listing = { ...MARKET.listing, depthAbove: above, depthBelow: below }
  const windows = new Map([
    [windowIdAt(MARKET.volume.settings, MOMENT.timestampS), { oiLongUsd: boughtUsd, oiShortUsd: Usd.zero }],
  ])
  return {
    ...MARKET,
    listing: { ...listing, factors: { ...listing.factors, ...factors } },
    volume: { ...MARKET.volume, windows },
  }
}

const CLOSE = { long: true, sizeUsd: THOUSAND, isPnlPositive: true, lastPosIncreaseBlock: MOMENT.blockNumber }

describe('volume impact', () => {
  it('a buy raises the price through the depth above, a sell lowers it through the depth below', () => {
    // f(1000 USD) is 50 ppm above; without earlier volume, half of it counts.
    assert.equal(openVolumeImpactP(true, THOUSAND, marketWith(), MOMENT), 25n * PPM)
    assert.equal(openVolumeImpactP(false, THOUSAND, marketWith(), MOMENT), -50n * PPM)
  })

  it('recent volume of the same side counts, times the cumulative factor', () => {
    const before = THOUSAND
    // f(e) = 50 ppm, f(e + S) = 100 ppm
    assert.equal(openVolumeImpactP(true, THOUSAND, marketWith({}, before), MOMENT), 75n * PPM)
    assert.equal(openVolumeImpactP(false, THOUSAND, marketWith({}, before), MOMENT), -50n * PPM)
    const halved = marketWith({ cumulativeFactor: 5_000_000_000 }, Usd.of(2n * before))
    assert.equal(openVolumeImpactP(true, THOUSAND, halved, MOMENT), 75n * PPM)
  })

  it('a close in profit soon after an increase bears the protection factor', () => {
    assert.equal(closeVolumeImpactP(CLOSE, marketWith(), MOMENT), -325n * PPM)
    assert.equal(closeVolumeImpactP({ ...CLOSE, isPnlPositive: false }, marketWith(), MOMENT), -50n * PPM)
  })

  it('until the last block of the protection, and not a block longer', () => {
    const market = marketWith({ protectionCloseFactorBlocks: 10 })
    const at = (blockNumber: number) => closeVolumeImpactP(CLOSE, market, { ...MOMENT, blockNumber })
    assert.equal(at(MOMENT.blockNumber + 10), -325n * PPM)
    assert.equal(at(MOMENT.blockNumber + 11), -50n * PPM)
  })

  it('not for whoever is whitelisted', () => {
    const market = { ...marketWith(), terms: { ...ORDINARY_TERMS, isProtectionWhitelisted: true } }
    assert.equal(closeVolumeImpactP(CLOSE, market, MOMENT), -50n * PPM)
  })

  it("a trader's own multiplier scales it; 0 is none", () => {
    const market = { ...marketWith(), terms: { ...ORDINARY_TERMS, cumulVolPriceImpactMultiplier: 500 } }
    assert.equal(openVolumeImpactP(false, THOUSAND, market, MOMENT), -25n * PPM)
  })

  it('exemptions switch it off on open, and on closes that are no longer protected', () => {
    assert.equal(openVolumeImpactP(true, USD, marketWith({ exemptOnOpen: true }), MOMENT), 0n)
    const exempt = marketWith({ exemptAfterProtectionCloseFactor: true })
    assert.equal(closeVolumeImpactP({ ...CLOSE, isPnlPositive: false }, exempt, MOMENT), 0n)
    assert.equal(closeVolumeImpactP(CLOSE, exempt, MOMENT), -325n * PPM)
  })
})

describe('active volume', () => {
  const settings = { startTs: 100, windowsDuration: 60, windowsCount: 2 }
  const windows = new Map([0, 1, 2].map((id) => [id, { oiLongUsd: Usd.of(10 ** id), oiShortUsd: Usd.of(5n) }]))

  it('is that of the current window and the ones before it, as many as count', () => {
    assert.equal(activeVolumeUsd({ settings, windows }, true, 100), 1n)
    assert.equal(activeVolumeUsd({ settings, windows }, true, 219), 11n)
    assert.equal(activeVolumeUsd({ settings, windows }, true, 220), 110n)
    assert.equal(activeVolumeUsd({ settings, windows }, false, 280), 5n)
    assert.equal(activeVolumeUsd({ settings, windows }, true, 340), 0n)
  })

  it('is none when windows are not set up', () => {
    assert.equal(activeVolumeUsd({ settings: { ...settings, windowsDuration: 0 }, windows }, true, 220), 0n)
  })
})
