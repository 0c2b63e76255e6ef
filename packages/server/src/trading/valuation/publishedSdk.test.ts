import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { abs, CollateralAmount, Price, Usd, type FundingRateP } from '@bezel/protocol'
import {
  getBorrowingFee,
  getLiquidationPrice,
  getPairPendingAccFundingFees,
  getTradeBorrowingFeesCollateralV2,
  getTradeCumulVolPriceImpactP,
  getTradeOpeningPriceImpact,
} from '@gainsnetwork/sdk'
import fc from 'fast-check'
import type { PairState, ValuedPosition } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { pendingFunding } from './funding.ts'
import { holdingFees } from './holdingFees.ts'
import { liquidationPrice } from './liquidation.ts'
import { oldBorrowingFeeCollateral } from './oldBorrowing.ts'
import { closeVolumeImpactP, netTokens, priceOpen, traderSpreadP } from './priceImpact.ts'
import { LISTING, MARKET, MOMENT, POSITION, TRADE, USDC } from './testing/fixtures.ts'
import * as sdk from './testing/publishedSdk.ts'

// The package that the Diamond's own project publishes computes in floating point what the contracts compute in
// integers. Each tolerance is the sum of what the contracts round off in that formula, and of the last digits of a
// double. Inputs on which the package departs from the contracts are left out by the generators, which say so.

const { toNumber, usdcNumber } = sdk

const RUNS = { seed: 20_261_115, numRuns: 400 }

/** Relative error that a chain of some dozen operations on doubles may gather. */
const DOUBLE = 1e-12

/** The largest skew of a generated market, in percent. */
const LARGEST_SKEW_P = 100

/** The largest price offset of a generated depth, in percent. */
const LARGEST_OFFSET_P = 6.5535

/** The rounding of an average rate, in percent per second: four units of the chain. */
const RATE_UNIT = 4 / 10 ** 18

/** One unit of a percentage of the chain, in percent. */
const P_UNIT = 1e-10

const collaterals = sdk.logBigInt(10n ** 12n).map((amount) => CollateralAmount.of(amount + 10n ** 6n))
const leverages = fc.integer({ min: 1_100, max: 500_000 })

function assertNear(ours: number, theirs: number, tolerance: number): void {
  assert.ok(Math.abs(ours - theirs) <= tolerance, `${ours} and ${theirs} differ by more than ${tolerance}`)
}

describe('the published SDK and our formulas', () => {
  it('agree on the price of an open', () => {
    const sizes = fc.record({ collateralAmount: collaterals, leverage: leverages })
    fc.assert(
      fc.property(sdk.impactMarkets, fc.boolean(), sizes, ({ market, price }, long, size) => {
        const book = long ? market.listing.depthAbove : market.listing.depthBelow
        const theirs = getTradeOpeningPriceImpact(
          {
            collateralIndex: 3,
            pairIndex: sdk.PAIR_INDEX,
            long,
            collateralAmount: usdcNumber(size.collateralAmount),
            leverage: toNumber(size.leverage, 3),
            openPrice: toNumber(price, 10),
            pairSpreadP: toNumber(traderSpreadP(market.listing, market.terms), 10),
            fee: FEE,
            contractsVersion: 2,
          },
          {
            collateralPriceUsd: 1,
            cumulVolContext: { ...sdk.volumeContext(market, MOMENT), depthBandsMapping: sdk.offsetsOf(book) },
            skewContext: {
              skewDepth: toNumber(market.pair.skewDepth, 18),
              pairOiToken: {
                oiLongToken: toNumber(market.pair.oiLongToken, 18),
                oiShortToken: toNumber(market.pair.oiShortToken, 18),
              },
            },
          },
        )
        // Where the price would fall to nothing the contracts revert, and the package shows a hundredth of it.
        const beforeSkewP = theirs.fixedSpreadP + theirs.cumulVolPriceImpactP
        fc.pre(Math.min(beforeSkewP, theirs.totalPriceImpactP) > -90)
        const impact = priceOpen(long, positionSizeCollateral(size), price, market, MOMENT)
        // Spread 1 unit; volume 2.5 units for the mean of two averages, times a multiplier of up to 2.
        // The size is rounded to a unit of the collateral before all of it, and each unit may cost the last offset.
        const unitShare = 1e-6 / usdcNumber(positionSizeCollateral(size))
        const marginalP = 2 * LARGEST_OFFSET_P + Math.abs(theirs.cumulVolPriceImpactP)
        const volume = 6 * P_UNIT + (DOUBLE + unitShare) * marginalP
        assertNear(toNumber(impact.fixedSpreadP, 10), theirs.fixedSpreadP, 2 * P_UNIT)
        assertNear(toNumber(impact.cumulVolPriceImpactP, 10), theirs.cumulVolPriceImpactP, volume)
        // The skew is rounded twice; its tokens come from a price that is off by the parts above and rounded to a unit.
        const sizeOff = unitShare + (volume + 2 * P_UNIT) / 10 + 1e-9 / toNumber(price, 10)
        const skew = 3 * P_UNIT + sizeOff * Math.abs(theirs.tradeSkewPriceImpactP) + DOUBLE * LARGEST_SKEW_P
        assertNear(toNumber(impact.skewPriceImpactP, 10), theirs.totalSkewPriceImpactP, skew)
        const priceTolerance = (toNumber(price, 10) * (2 * P_UNIT + volume + skew)) / 100 + 2e-10
        assertNear(toNumber(impact.priceAfterImpact, 10), theirs.priceAfterImpact, priceTolerance)
      }),
      RUNS,
    )
  })

  it('agree on the volume impact of a close, with and without protection', () => {
    fc.assert(
      fc.property(
        sdk.impactMarkets,
        fc.boolean(),
        fc.boolean(),
        sdk.logBigInt(10n ** 26n),
        fc.integer({ min: 1, max: 4_000 }),
        ({ market }, long, isPnlPositive, sizeUsd, blocksAgo) => {
          const moment = { ...MOMENT, blockNumber: 10_000 }
          const lastPosIncreaseBlock = moment.blockNumber - blocksAgo
          const close = { long, sizeUsd: Usd.of(sizeUsd), isPnlPositive, lastPosIncreaseBlock }
          const ours = closeVolumeImpactP(close, market, moment)
          const book = long ? market.listing.depthBelow : market.listing.depthAbove
          const context = { ...sdk.volumeContext(market, moment), depthBandsMapping: sdk.offsetsOf(book) }
          const usd = toNumber(sizeUsd, 18)
          const theirs = getTradeCumulVolPriceImpactP(
            '',
            sdk.PAIR_INDEX,
            long,
            usd,
            isPnlPositive,
            false,
            lastPosIncreaseBlock,
            context,
          )
          // As for an open, with a protection factor of up to 10 besides.
          assertNear(toNumber(ours, 10), theirs, 60 * P_UNIT + DOUBLE * Math.abs(theirs))
        },
      ),
      RUNS,
    )
  })

  it('agree on funding, also when the rate changes its sign and meets its cap', () => {
    const seen = { signChanged: 0, capped: 0, both: 0 }
    fc.assert(
      fc.property(sdk.fundedPairs, sdk.prices, sdk.logBigInt(10_000_000n), (pair, price, elapsedS) => {
        const { fundingData, fundingParams } = pair
        const ours = pendingFunding(pair, USDC, price, 1_000 + Number(elapsedS))
        const theirs = sdkFunding(pair, price, Number(elapsedS))
        const unit = fundingTolerance(pair, ours.fundingRatePerSecondP, price, Number(elapsedS))
        assertNear(toNumber(ours.fundingRatePerSecondP, 18), theirs.currentFundingRatePerSecondP, unit.rate)
        assertNear(toNumber(ours.accFundingFeeLongP, 20), theirs.accFundingFeeLongP, unit.accumulator)
        assertNear(toNumber(ours.accFundingFeeShortP, 20), theirs.accFundingFeeShortP, unit.accumulator)

        const isCapped = abs(ours.fundingRatePerSecondP) === BigInt(fundingParams.absoluteRatePerSecondCap) * 10n ** 8n
        const isSignChanged = ours.fundingRatePerSecondP * fundingData.lastFundingRatePerSecondP < 0n
        seen.signChanged += isSignChanged ? 1 : 0
        seen.capped += isCapped ? 1 : 0
        seen.both += isCapped && isSignChanged && fundingParams.aprMultiplierEnabled ? 1 : 0
      }),
      RUNS,
    )
    assert.ok(seen.signChanged > 20 && seen.capped > 20 && seen.both > 10, JSON.stringify(seen))
  })

  it('agree on both borrowing fees and on the liquidation price', () => {
    const cases = fc.record({
      old: sdk.oldBorrowingCases,
      long: fc.boolean(),
      collateralAmount: collaterals,
      leverage: leverages,
      openPrice: sdk.prices,
      movePpm: fc.bigInt(-300_000n, 300_000n),
      ratePerSecondP: fc.integer({ min: 0, max: 317_097 }),
      accBorrowingFeeP: sdk.logBigInt(10n ** 26n),
      elapsedS: fc.integer({ min: 0, max: 1_000_000 }),
      blockNumber: fc.integer({ min: 1_000, max: 100_000 }),
      realizedFees: fc.bigInt(0n, 10n ** 6n),
      realizedPnl: fc.bigInt(-(10n ** 6n), 10n ** 6n),
    })
    fc.assert(
      fc.property(cases, ({ old, openPrice, ...of }) => {
        const price = Price.of(openPrice + (openPrice * of.movePpm) / 1_000_000n)
        const pair: PairState = {
          ...old.pair,
          borrowingParams: { borrowingRatePerSecondP: of.ratePerSecondP },
          borrowingData: { accBorrowingFeeP: of.accBorrowingFeeP, lastBorrowingUpdateTs: 1_000 },
        }
        const { long, leverage } = of
        const position: ValuedPosition = {
          ...POSITION,
          trade: { ...TRADE, long, leverage, collateralAmount: of.collateralAmount, openPrice },
          feesData: {
            ...POSITION.feesData,
            realizedTradingFeesCollateral: CollateralAmount.of(of.realizedFees),
            realizedPnlCollateral: CollateralAmount.of(of.realizedPnl),
          },
          oldBorrowing: old.initial,
        }
        const moment = { timestampS: 1_000 + of.elapsedS, blockNumber: of.blockNumber }
        assertBorrowing(position, pair, price, moment)
      }),
      RUNS,
    )
  })
})

const FEE = {
  totalPositionSizeFeeP: toNumber(LISTING.feeP, 12),
  totalLiqCollateralFeeP: toNumber(LISTING.liqFeeP, 12),
  oraclePositionSizeFeeP: 0,
  minPositionSizeUsd: toNumber(LISTING.minPositionSizeUsd, 18),
}

function sdkFunding(pair: PairState, price: Price, elapsedS: number): ReturnType<typeof getPairPendingAccFundingFees> {
  const { fundingParams, fundingData } = pair
  const net = toNumber(netTokens(pair), 18)
  return getPairPendingAccFundingFees(
    {
      ...fundingParams,
      skewCoefficientPerYear: toNumber(fundingParams.skewCoefficientPerYear, 26),
      absoluteVelocityPerYearCap: toNumber(fundingParams.absoluteVelocityPerYearCap, 7),
      absoluteRatePerSecondCap: toNumber(fundingParams.absoluteRatePerSecondCap, 10),
    },
    {
      accFundingFeeLongP: toNumber(fundingData.accFundingFeeLongP, 20),
      accFundingFeeShortP: toNumber(fundingData.accFundingFeeShortP, 20),
      lastFundingRatePerSecondP: toNumber(fundingData.lastFundingRatePerSecondP, 18),
      lastFundingUpdateTs: fundingData.lastFundingUpdateTs,
    },
    toNumber(price, 10),
    { oiLongToken: toNumber(pair.oiLongToken, 18), oiShortToken: toNumber(pair.oiShortToken, 18) },
    net,
    net * toNumber(price, 10),
    1_000 + elapsedS,
  )
}

/**
 * The contracts count whole seconds until the rate is zero or at its cap, so up to one second at the largest rate is
 * counted on the other side of it; a multiplier of up to 100 makes that of one side larger.
 */
function fundingTolerance(
  { fundingParams, fundingData }: PairState,
  rate: FundingRateP,
  price: Price,
  elapsedS: number,
): { readonly rate: number; readonly accumulator: number } {
  const cap = toNumber(fundingParams.absoluteRatePerSecondCap, 10)
  const largest = Math.max(cap, Math.abs(toNumber(rate, 18)))
  const units = RATE_UNIT * elapsedS + 2 * largest
  const stored = Math.max(
    Math.abs(toNumber(fundingData.accFundingFeeLongP, 20)),
    Math.abs(toNumber(fundingData.accFundingFeeShortP, 20)),
  )
  const multiplier = fundingParams.aprMultiplierEnabled ? 100 : 1
  const accrued = largest * elapsedS
  return {
    // Where less than the last whole second is missing to the cap, one of the two is there already.
    rate: 2e-18 + DOUBLE * largest + toNumber(fundingParams.absoluteVelocityPerYearCap, 7) / 31_536_000,
    accumulator: (units + DOUBLE * accrued) * toNumber(price, 10) * multiplier + DOUBLE * stored + 1e-19,
  }
}

function assertBorrowing(
  position: ValuedPosition,
  pair: PairState,
  price: Price,
  moment: { readonly timestampS: number; readonly blockNumber: number },
): void {
  const { trade, oldBorrowing } = position
  assert.ok(oldBorrowing !== null)
  const size = usdcNumber(positionSizeCollateral(trade))
  const fees = holdingFees(position, pair, USDC, price, moment)
  const around = { pair, collateral: USDC, price, blockNumber: moment.blockNumber }
  assert.equal(fees.oldBorrowingFeeCollateral, oldBorrowingFeeCollateral(trade, oldBorrowing, around))

  const borrowingV1 = sdk.oldBorrowingContext(pair, moment.blockNumber)
  const initialAccFees = sdk.initialNumbers(oldBorrowing)
  const exact = usdcNumber(trade.collateralAmount) * toNumber(trade.leverage, 3)
  const current = toNumber(price, 10)
  const theirsV1 = getBorrowingFee(exact, sdk.PAIR_INDEX, trade.long, initialAccFees, current, borrowingV1)
  const toleranceV1 = oldBorrowingTolerance(pair, moment.blockNumber) * size + 2e-6 + DOUBLE * size * 1_000
  assertNear(usdcNumber(fees.oldBorrowingFeeCollateral), Math.max(theirsV1, 0), toleranceV1)

  const borrowingV2 = {
    params: { borrowingRatePerSecondP: toNumber(pair.borrowingParams.borrowingRatePerSecondP, 10) },
    data: {
      accBorrowingFeeP: toNumber(pair.borrowingData.accBorrowingFeeP, 20),
      lastBorrowingUpdateTs: pair.borrowingData.lastBorrowingUpdateTs,
    },
  }
  const openPrice = toNumber(trade.openPrice, 10)
  const theirsV2 = getTradeBorrowingFeesCollateralV2(
    {
      positionSizeCollateral: exact,
      openPrice,
      currentPairPrice: current,
      initialAccBorrowingFeeP: 0,
      currentTimestamp: moment.timestampS,
    },
    borrowingV2,
  )
  // The size is rounded to a unit, of which a share is paid, and the fee again.
  const toleranceV2 = 1e-6 + (1e-6 * theirsV2) / exact + DOUBLE * theirsV2
  assertNear(usdcNumber(fees.borrowingFeeCollateral), theirsV2, toleranceV2)

  const theirs = getLiquidationPrice(
    { ...trade, ...sdkTrade(position) },
    {
      core: {
        currentBlock: moment.blockNumber,
        currentTimestamp: moment.timestampS,
        collateralPriceUsd: 1,
        contractsVersion: 2,
        spreadP: toNumber(LISTING.spreadP, 12),
      },
      borrowingV1,
      borrowingV2,
      trading: { fee: FEE, globalTradeFeeParams: NO_SHARES },
      tradeData: {
        tradeInfo: { ...NO_INFO, contractsVersion: 2 },
        tradeFeesData: {
          ...NO_FEES_DATA,
          realizedTradingFeesCollateral: usdcNumber(position.feesData.realizedTradingFeesCollateral),
          realizedPnlCollateral: usdcNumber(position.feesData.realizedPnlCollateral),
        },
        liquidationParams: {
          maxLiqSpreadP: toNumber(position.liquidationParams.maxLiqSpreadP, 12),
          startLiqThresholdP: toNumber(position.liquidationParams.startLiqThresholdP, 12),
          endLiqThresholdP: toNumber(position.liquidationParams.endLiqThresholdP, 12),
          startLeverage: toNumber(position.liquidationParams.startLeverage, 3),
          endLeverage: toNumber(position.liquidationParams.endLeverage, 3),
        },
        initialAccFees,
      },
      liquidationSpecific: {
        currentPairPrice: current,
        additionalFeeCollateral: 0,
        partialCloseMultiplier: 1,
        beforeOpened: false,
        isCounterTrade: false,
      },
    },
  )
  const ours = liquidationPrice(position, { ...MARKET, pair }, price, moment)
  // The fees move the price by their share of the size; the threshold and the distance are rounded by a unit each.
  const share = (toleranceV1 + toleranceV2 + 2e-6) / exact
  assertNear(toNumber(ours, 10), theirs, openPrice * (share + 2e-12 + 1e-11) + 4e-10)
}

/**
 * The share of the open interest that counts is rounded to the collateral's unit before it is raised to the exponent,
 * and so are its caps; each accumulator is rounded once. Returned as a share of the size.
 */
function oldBorrowingTolerance({ oldBorrowing }: PairState, blockNumber: number): number {
  const { data, group } = oldBorrowing
  const of = ({ feePerBlock, feeExponent, accLastUpdatedBlock }: typeof data): number =>
    ((blockNumber - accLastUpdatedBlock) * toNumber(feePerBlock, 10) * feeExponent * 4e-6) / 100 + 2e-12
  return of(data) + (group === undefined ? 0 : of(group.data))
}

const NO_SHARES = { referralFeeP: 0, govFeeP: 0, triggerOrderFeeP: 0, gnsOtcFeeP: 0, gTokenFeeP: 0 }

const NO_INFO = {
  createdBlock: 0,
  tpLastUpdatedBlock: 0,
  slLastUpdatedBlock: 0,
  maxSlippageP: 0,
  lastOiUpdateTs: 0,
  collateralPriceUsd: 1,
  lastPosIncreaseBlock: 0,
}

const NO_FEES_DATA = {
  manuallyRealizedNegativePnlCollateral: 0,
  alreadyTransferredNegativePnlCollateral: 0,
  virtualAvailableCollateralInDiamond: 0,
  initialAccFundingFeeP: 0,
  initialAccBorrowingFeeP: 0,
}

function sdkTrade({ trade }: ValuedPosition): Record<
  'collateralAmount' | 'leverage' | 'openPrice' | 'sl' | 'tp',
  number
> & {
  readonly pairIndex: number
  readonly positionSizeToken: number
} {
  return {
    pairIndex: sdk.PAIR_INDEX,
    collateralAmount: usdcNumber(trade.collateralAmount),
    leverage: toNumber(trade.leverage, 3),
    openPrice: toNumber(trade.openPrice, 10),
    sl: 0,
    tp: 0,
    positionSizeToken: toNumber(trade.positionSizeToken, 18),
  }
}
