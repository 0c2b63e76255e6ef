import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS, CHAIN_SLUGS, parseDecimal, parseMarketSymbol, scaleDecimal } from '@bezel/protocol'
import { COLLATERALS } from './collaterals.ts'
import { livePairs } from './liveListing.ts'
import { deployedPairs, PAIRS } from './pairs.ts'
import { DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS, CHAIN_SETTINGS, GLOBAL_TRADE_FEES } from './settings.ts'
import {
  BORROWING_RATE_PER_SECOND_P,
  BORROWING_V1_GROUPS,
  BORROWING_V1_PAIRS,
  FEE_TIERS,
  FEES,
  FUNDING,
  MAX_BORROWING_RATE_PER_SECOND_P,
  POINTS_PER_USD,
} from './fees.ts'
import { GROUPS } from './groups.ts'

const MAX_UINT56 = 2n ** 56n - 1n

const pairAt = (index: number) => PAIRS.find((pair) => pair.index === index)

describe('pairs', () => {
  it('are listed once each, in the order of their index', () => {
    assert.equal(PAIRS.length, 52)
    assert.deepEqual(
      PAIRS.map((pair) => pair.index),
      [...new Set(PAIRS.map((pair) => pair.index))].toSorted((a, b) => a - b),
    )
    assert.equal(new Set(PAIRS.map((pair) => `${pair.from}/${pair.to}`)).size, PAIRS.length)
  })

  it('have a symbol, a group and a fee that exist, and a price an oracle can answer', () => {
    for (const pair of PAIRS) {
      assert.ok(parseMarketSymbol(`${pair.from}/${pair.to}`), `${pair.from}/${pair.to}`)
      assert.ok(GROUPS[pair.groupIndex], `${pair.from}: group ${pair.groupIndex}`)
      assert.ok(FEES[pair.feeIndex], `${pair.from}: fee ${pair.feeIndex}`)
      const price = scaleDecimal(parseDecimal(pair.startPrice)!, 10)!
      assert.ok(price > 0n && price <= MAX_UINT56, `${pair.from}: ${pair.startPrice}`)
    }
  })

  it('carry the values of the source table', () => {
    assert.equal(pairAt(0)?.spreadP, 400_000_000n)
    assert.equal(pairAt(29)?.feeIndex, 8)
    assert.equal(pairAt(117)?.groupIndex, 8)
    assert.equal(pairAt(187)?.spreadP, 500_000_000n)
    assert.deepEqual([pairAt(3)?.depthAboveUsd, pairAt(3)?.depthBelowUsd], [2_369_876, 2_717_124])
    assert.equal(pairAt(21)?.depthAboveUsd, 0)
  })

  it('have depth exactly where they are crypto', () => {
    for (const pair of PAIRS) assert.equal(pair.depthAboveUsd > 0, GROUPS[pair.groupIndex]?.session === 'crypto')
  })

  it('have an index price of their own for a few only', () => {
    assert.deepEqual(
      PAIRS.filter((pair) => pair.indexBasisPpm !== 0).map((pair) => pair.from),
      ['PEPE', 'BONK', 'WIF'],
    )
  })
})

describe('deployedPairs', () => {
  const deployed = deployedPairs()

  it('has one pair for each index up to the last', () => {
    assert.deepEqual(
      deployed.map((pair) => pair.index),
      Array.from({ length: 220 }, (_, index) => index),
    )
    assert.equal(deployed.filter((pair) => pair.listed).length, PAIRS.length)
  })

  it('fills a hole with a pair nobody can open', () => {
    const hole = deployed[4]!
    assert.equal(`${hole.from}/${hole.to}`, 'DELISTED4/USD')
    assert.ok(hole.customMaxLeverage > 0n && hole.customMaxLeverage < GROUPS[hole.groupIndex]!.minLeverage)
    for (const pair of deployed) assert.ok(parseMarketSymbol(`${pair.from}/${pair.to}`))
  })

  it('leaves the leverage of a listed pair to its group', () => {
    assert.equal(deployed[0]?.customMaxLeverage, 0n)
    assert.equal(deployed[219]?.from, 'ENA')
  })
})

describe('groups and fees', () => {
  it('stand at their own index', () => {
    assert.deepEqual(
      GROUPS.map((group) => group.index),
      GROUPS.map((_, at) => at),
    )
    assert.deepEqual(
      FEES.map((fee) => fee.index),
      FEES.map((_, at) => at),
    )
    assert.equal(GROUPS.length, 11)
    assert.equal(FEES.length, 10)
  })

  it('have ranges the contract accepts', () => {
    for (const { minLeverage, maxLeverage, liquidation } of GROUPS) {
      assert.ok(minLeverage < maxLeverage)
      assert.ok(liquidation.startLiqThresholdP >= liquidation.endLiqThresholdP)
      assert.ok(liquidation.startLeverage <= liquidation.endLeverage && liquidation.endLeverage <= maxLeverage)
    }
  })

  it('give the minimum collaterals of the source: 3.75 USD for BTC, 27 USD for EUR/USD', () => {
    const minCollateralMicroUsd = (feeIndex: number) => {
      const fee = FEES[feeIndex]!
      return (5n * fee.minPositionSizeUsd * 1000n * fee.totalPositionSizeFeeP) / 10n ** 12n
    }
    assert.equal(minCollateralMicroUsd(0), 3_750_000n)
    assert.equal(minCollateralMicroUsd(1), 27_000_000n)
  })
})

describe('collaterals', () => {
  it('are numbered from 1 on every chain and have a price on chain', () => {
    for (const slug of CHAIN_SLUGS) {
      const listed = COLLATERALS[slug]
      assert.deepEqual(
        listed.map((collateral) => collateral.index),
        listed.map((_, at) => at + 1),
      )
      for (const collateral of listed) assert.ok(scaleDecimal(parseDecimal(collateral.priceUsd)!, 8)! > 0n)
    }
  })

  it('price WETH as the walk prices ETH at its start', () => {
    assert.equal(COLLATERALS.arbitrum[1]?.priceUsd, pairAt(1)?.startPrice)
  })
})

describe('settings', () => {
  it('have 30 growing depth bands that end at the whole depth', () => {
    for (const bands of [DEPTH_BAND_OFFSETS_PPM, DEPTH_BAND_SHARES_BPS]) {
      assert.equal(bands.length, 30)
      for (const [at, band] of bands.entries()) assert.ok(band > (bands[at - 1] ?? 0) && band < 2 ** 16)
    }
    assert.equal(DEPTH_BAND_SHARES_BPS.at(-1), 10_000)
  })

  it('split the whole fee', () => {
    const { govFeeP, triggerOrderFeeP, gnsOtcFeeP, gTokenFeeP, gTokenOcFeeP } = GLOBAL_TRADE_FEES
    assert.equal(govFeeP + triggerOrderFeeP + gnsOtcFeeP + gTokenFeeP + gTokenOcFeeP, 100_000)
  })

  it('keep timeouts in the range the contract allows where the pace of the chain is known', () => {
    for (const slug of CHAIN_SLUGS) {
      const { marketOrdersTimeoutBlocks, triggerTimeoutBlocks, minAnswers } = CHAIN_SETTINGS[slug]
      const msPerBlock = CHAINS[slug].nativeMsPerBlock
      assert.ok(minAnswers >= 2)
      if (msPerBlock === undefined) continue
      const inSeconds = (blocks: number) => (blocks * msPerBlock) / 1000
      assert.ok(inSeconds(marketOrdersTimeoutBlocks) >= 60 && inSeconds(marketOrdersTimeoutBlocks) <= 300, slug)
      assert.ok(inSeconds(triggerTimeoutBlocks) >= 10 && inSeconds(triggerTimeoutBlocks) <= 30, slug)
    }
  })

  it('charge holding fees the contract accepts, for listed pairs and every group', () => {
    assert.equal(BORROWING_RATE_PER_SECOND_P.length, GROUPS.length)
    for (const rate of BORROWING_RATE_PER_SECOND_P) assert.ok(rate > 0n && rate <= MAX_BORROWING_RATE_PER_SECOND_P)
    for (const funding of FUNDING) {
      assert.ok(pairAt(funding.pairIndex))
      assert.ok(funding.absoluteVelocityPerYearCap < 2n ** 24n)
      assert.ok(funding.absoluteRatePerSecondCap <= 3_170_979n)
    }
  })

  it('charge first-generation borrowing on listed pairs only, in groups that exist', () => {
    for (const { pairIndex, groupIndex, cap } of BORROWING_V1_PAIRS) {
      assert.ok(pairAt(pairIndex))
      assert.ok(BORROWING_V1_GROUPS.some(({ index }) => index === groupIndex))
      assert.ok(cap.minP < cap.maxP && cap.maxP <= 100_000n)
    }
  })

  it('give points in every fee group, and better tiers for more of them', () => {
    assert.equal(POINTS_PER_USD.length, FEES.length)
    for (const [at, { feeMultiplier, pointsThreshold }] of FEE_TIERS.entries()) {
      const { feeMultiplier: above, pointsThreshold: below } = FEE_TIERS[at - 1] ?? {
        feeMultiplier: 1_000n,
        pointsThreshold: 0n,
      }
      assert.ok(feeMultiplier < above && pointsThreshold > below)
    }
  })

  it('reach the velocity cap of our own funding at about one million USD of skew', () => {
    for (const funding of FUNDING.filter(({ pairIndex }) => pairIndex !== 2)) {
      const price = scaleDecimal(parseDecimal(pairAt(funding.pairIndex)!.startPrice)!, 10)!
      const tokens = (1_000_000n * 10n ** 28n) / price
      const velocity = (tokens * funding.skewCoefficientPerYear) / 10n ** 34n
      const cap = funding.absoluteVelocityPerYearCap * 1000n
      assert.ok(velocity * 100n >= cap * 95n && velocity * 100n <= cap * 105n, `${funding.pairIndex}: ${velocity}`)
    }
  })

  it('can be as many as on the live Diamond, with the usual ones among them', () => {
    const pairs = livePairs()
    assert.deepEqual([pairs.length, deployedPairs(pairs).length], [340, 483])
    assert.deepEqual(
      PAIRS.filter((pair) => !pairs.includes(pair)),
      [],
    )
    assert.equal(new Set(pairs.map(({ index }) => index)).size, pairs.length)
    assert.equal(new Set(pairs.map(({ from, to }) => `${from}/${to}`)).size, pairs.length)
    assert.ok(pairs.every(({ from, to }) => parseMarketSymbol(`${from}/${to}`) !== undefined))
  })
})
