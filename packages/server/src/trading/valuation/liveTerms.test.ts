import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, CollateralPrice, Price } from '@bezel/protocol'
import {
  getLiquidationPrice,
  getPnlPercent,
  getTotalTradeFeesCollateral,
  getTotalTradeLiqFeesCollateral,
  getTradeValue,
} from '@gainsnetwork/sdk'
import fc from 'fast-check'
import type { CollateralState, Market, ValuedPosition } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { liquidationFeeCollateral, rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { liquidationPrice } from './liquidation.ts'
import { traderSpreadP } from './priceImpact.ts'
import { profitP, realizedCollateral, tradeValueCollateral } from './profit.ts'
import { LISTING, MARKET, MOMENT, POSITION, TRADE } from './testing/fixtures.ts'
import { logBigInt, PAIR_INDEX, prices, toNumber } from './testing/publishedSdk.ts'

// The collaterals, tiers and trades of live chains, against the package that the Diamond's own project publishes.

/** The collaterals of live chains: decimals, and a price in USD that they have had. */
const COLLATERALS = [
  { name: 'DAI', decimals: 18, usd: 0.9997 },
  { name: 'USDC', decimals: 6, usd: 0.99988281 },
  { name: 'GNS', decimals: 18, usd: 1.3719 },
  { name: 'WETH', decimals: 18, usd: 2_598.59 },
  { name: 'APE', decimals: 18, usd: 0.61 },
] as const

/** Relative error of a dozen operations on doubles. */
const DOUBLE = 1e-12

const cases = fc.record({
  collateral: fc.constantFrom(...COLLATERALS),
  /** Collateral in millionths of USD, from 5 to 10 million USD. */
  microUsd: logBigInt(10n ** 13n).map((value) => value + 5_000_000n),
  leverage: fc.integer({ min: 1_100, max: 500_000 }),
  long: fc.boolean(),
  isCounterTrade: fc.boolean(),
  openPrice: prices,
  movePpm: fc.bigInt(-300_000n, 300_000n),
  /** Shares of the collateral that the record carries, in ppm. */
  feesPpm: fc.bigInt(0n, 400_000n),
  pnlPpm: fc.bigInt(-400_000n, 400_000n),
  feeMultiplier: fc.constantFrom(1_000, 975, 950, 925, 900, 850, 800, 775, 500),
  fixedSpreadP: fc.constantFrom(0, 20, 100),
})

describe('terms of live chains, and the published SDK', () => {
  it('agree on fees, value and liquidation price in every collateral', () => {
    fc.assert(
      fc.property(cases, (of) => {
        const { decimals } = of.collateral
        const unit = 10 ** -decimals
        const state: CollateralState = {
          precision: 10n ** BigInt(decimals),
          precisionDelta: 10n ** BigInt(18 - decimals),
          priceUsd: CollateralPrice.of(BigInt(Math.round(of.collateral.usd * 1e8))),
        }
        const amount = (of.microUsd * 10n ** BigInt(decimals) * 100n) / state.priceUsd
        const collateralAmount = CollateralAmount.of(amount)
        const number = (value: bigint): number => toNumber(value, decimals)
        const position: ValuedPosition = {
          ...POSITION,
          trade: { ...TRADE, ...of, collateralAmount },
          feesData: {
            ...POSITION.feesData,
            realizedTradingFeesCollateral: CollateralAmount.of((amount * of.feesPpm) / 1_000_000n),
            realizedPnlCollateral: CollateralAmount.of((amount * of.pnlPpm) / 1_000_000n),
          },
          oldBorrowing: null,
        }
        const { trade, feesData } = position
        const terms = { ...MARKET.terms, feeMultiplier: of.feeMultiplier, fixedSpreadP: of.fixedSpreadP }
        const market: Market = { ...MARKET, collateral: state, terms }
        const price = Price.of(of.openPrice + (of.openPrice * of.movePpm) / 1_000_000n)

        const sdkTerms = {
          fee: FEE,
          collateralPriceUsd: toNumber(state.priceUsd, 8),
          globalTradeFeeParams: NO_SHARES,
          traderFeeMultiplier: of.feeMultiplier / 1_000,
          counterTradeSettings: { [PAIR_INDEX]: { feeRateMultiplier: 0.5, maxLeverage: 10 } },
        }
        const size = positionSizeCollateral(trade)
        const exact = number(amount) * toNumber(of.leverage, 3)
        const rawFee = rawTradingFeeCollateral(size, of.isCounterTrade, LISTING, state)
        const fee = tieredFeeCollateral(rawFee, terms)
        const theirFee = getTotalTradeFeesCollateral(3, '', PAIR_INDEX, exact, of.isCounterTrade, sdkTerms as never)
        near(number(fee), theirFee, 3 * unit + DOUBLE * theirFee, 'fee')

        const liqFee = liquidationFeeCollateral(collateralAmount, LISTING)
        const theirLiqFee = getTotalTradeLiqFeesCollateral(3, '', PAIR_INDEX, number(amount), {
          totalLiqCollateralFeeP: FEE.totalLiqCollateralFeeP,
          traderFeeMultiplier: 1,
        } as never)
        near(number(liqFee), theirLiqFee, 2 * unit + DOUBLE * theirLiqFee, 'liquidation fee')

        const pnlP = profitP(trade, price)
        const theirPnlP = getPnlPercent(
          toNumber(of.openPrice, 10),
          toNumber(price, 10),
          of.long,
          toNumber(of.leverage, 3),
        )
        near(toNumber(pnlP, 10), theirPnlP, 2e-10 + 500 * 100 * DOUBLE, 'profit')

        const owed = CollateralAmount.of(fee - realizedCollateral(feesData))
        const worth = tradeValueCollateral(collateralAmount, pnlP, owed, state)
        const theirWorth = getTradeValue(number(amount), toNumber(pnlP, 10), number(owed))
        near(number(worth), theirWorth, 2 * unit + 10 * DOUBLE * number(amount), 'value')

        const ours = liquidationPrice(position, market, price, MOMENT)
        const theirs = getLiquidationPrice(
          { ...trade, ...numbersOf(position, number) } as never,
          {
            core: {
              currentBlock: MOMENT.blockNumber,
              currentTimestamp: MOMENT.timestampS,
              collateralPriceUsd: sdkTerms.collateralPriceUsd,
              contractsVersion: 2,
              // With the trader's own spread, which the package would add twice.
              spreadP: toNumber(traderSpreadP(LISTING, terms), 12),
            },
            trading: sdkTerms,
            tradeData: {
              tradeInfo: { contractsVersion: 2 },
              tradeFeesData: {
                realizedTradingFeesCollateral: number(feesData.realizedTradingFeesCollateral),
                realizedPnlCollateral: number(feesData.realizedPnlCollateral),
              },
              liquidationParams: {
                maxLiqSpreadP: toNumber(position.liquidationParams.maxLiqSpreadP, 12),
                startLiqThresholdP: toNumber(position.liquidationParams.startLiqThresholdP, 12),
                endLiqThresholdP: toNumber(position.liquidationParams.endLiqThresholdP, 12),
                startLeverage: toNumber(position.liquidationParams.startLeverage, 3),
                endLeverage: toNumber(position.liquidationParams.endLeverage, 3),
              },
            },
            liquidationSpecific: {
              currentPairPrice: toNumber(price, 10),
              additionalFeeCollateral: 0,
              partialCloseMultiplier: 1,
              beforeOpened: false,
              isCounterTrade: of.isCounterTrade,
            },
          } as never,
        )
        const share = (4 * unit) / exact + 1e-11 / toNumber(of.leverage, 3)
        near(toNumber(ours, 10), theirs, toNumber(of.openPrice, 10) * (share + 1e-11) + 4e-10, 'liquidation price')
      }),
      { seed: 20_261_116, numRuns: 500 },
    )
  })
})

function near(ours: number, theirs: number, tolerance: number, what: string): void {
  assert.ok(Math.abs(ours - theirs) <= tolerance, `${what}: ${ours} and ${theirs} differ by more than ${tolerance}`)
}

const FEE = {
  totalPositionSizeFeeP: toNumber(LISTING.feeP, 12),
  totalLiqCollateralFeeP: toNumber(LISTING.liqFeeP, 12),
  oraclePositionSizeFeeP: 0,
  minPositionSizeUsd: toNumber(LISTING.minPositionSizeUsd, 18),
}

const NO_SHARES = { referralFeeP: 0, govFeeP: 0, triggerOrderFeeP: 0, gnsOtcFeeP: 0, gTokenFeeP: 0 }

function numbersOf({ trade }: ValuedPosition, number: (value: bigint) => number): Record<string, number> {
  return {
    pairIndex: PAIR_INDEX,
    collateralAmount: number(trade.collateralAmount),
    leverage: toNumber(trade.leverage, 3),
    openPrice: toNumber(trade.openPrice, 10),
  }
}
