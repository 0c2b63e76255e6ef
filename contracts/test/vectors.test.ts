import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  balanceOf,
  BOB,
  BTC,
  candle,
  flatten,
  gainOf,
  LINK,
  openPosition,
  passTime,
  placeOrder,
  requestClose,
  requestOpen,
  setBorrowingRate,
  setFunding,
  tokens,
  trigger,
  TRIGGER,
  usd,
  usdc,
  USDC,
  VECTOR_TRADE,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const LIQUIDATION = {
  maxLiqSpreadP: 500_000_000,
  startLiqThresholdP: 900_000_000_000,
  endLiqThresholdP: 750_000_000_000,
  startLeverage: 25_000,
  endLeverage: 60_000,
}

/** A trade that does not exist yet, as an argument of getTradeLiquidationPrice. */
const NEW_TRADE = {
  collateralIndex: USDC,
  trader: ALICE.address,
  pairIndex: BTC,
  index: 0,
  openPrice: usd(60_000),
  long: true,
  collateral: usdc(100),
  leverage: 10_000n,
  /** The opening fee, which a trade that does not exist yet has not paid. */
  additionalFeeCollateral: 750_000n,
  liquidationParams: LIQUIDATION,
  currentPairPrice: usd(60_000),
  isCounterTrade: false,
  partialCloseMultiplier: 10n ** 18n,
  beforeOpened: true,
}

describe('the worked vectors', () => {
  const world = sharedWorld(async (prepared) => {
    await flatten(prepared, BTC)
    await flatten(prepared, LINK)
  })

  it('open: 100 USDC long at 10x, oracle 60000, spread 0.04 %, fee 0.06 % on at least 1250 USD', async () => {
    const { outcome } = await openPosition(world(), ALICE)
    const executed = onlyEvent(outcome, 'MarketExecuted')
    assert.equal(executed.t.openPrice, 600_120_000_000_000n)
    assert.equal(executed.t.positionSizeToken, 16_663_333_999_866_693n)
    assert.equal(executed.liqPrice, 547_129_404_000_000n)
    assert.equal(executed.marketPrice, 600_120_000_000_000n)
    assert.equal(executed.oraclePrice, 600_000_000_000_000n)
    assert.deepEqual(onlyEvent(outcome, 'TradeStored').liquidationParams, LIQUIDATION)
    const processed = onlyEvent(outcome, 'FeesProcessed')
    assert.equal(processed.positionSizeCollateral, 1_000_000_000n)
    assert.equal(processed.totalFeesCollateral, 750_000n)
    const floorUsd = await world().read('pairMinPositionSizeUsd', [BigInt(BTC)])
    assert.equal(await world().read('getCollateralFromUsdNormalizedValue', [USDC, floorUsd]), 1_250_000_000n)
  })

  it('the same liquidation price before the trade exists (getTradeLiquidationPrice)', async () => {
    const input = { ...NEW_TRADE, openPrice: 600_120_000_000_000n }
    assert.equal(await world().read('getTradeLiquidationPrice', [input]), 547_129_404_000_000n)
  })

  it('the spread in it is limited by maxLiqSpreadP; 0 means no spread and a threshold of 90 % at any leverage', async () => {
    const openPrice = 600_120_000_000_000n
    const hundredthPercent = openPrice / 10_000n
    const liqPrice = (maxLiqSpreadP: number, leverage = 10_000n, additionalFeeCollateral = 750_000n) => {
      const liquidationParams = { ...LIQUIDATION, maxLiqSpreadP }
      const input = { ...NEW_TRADE, openPrice, leverage, additionalFeeCollateral, liquidationParams }
      return world().read('getTradeLiquidationPrice', [input])
    }
    assert.equal(await liqPrice(100_000_000), 547_129_404_000_000n - hundredthPercent)
    assert.equal(await liqPrice(0), 547_129_404_000_000n - 2n * hundredthPercent)
    const fees = 2n * 6_000_000n
    assert.equal(await liqPrice(0, 100_000n, fees / 2n), openPrice - (openPrice * (usdc(90) - fees)) / usdc(10_000))
  })

  it('close of that trade at oracle 63000', async () => {
    const { index } = await openPosition(world(), ALICE)
    const { orderId } = await requestClose(world(), ALICE, index, usd(63_000))
    const before = await balanceOf(world(), ALICE.address)
    const executed = onlyEvent(await world().answer(orderId, usd(63_000)), 'MarketExecuted')
    assert.equal(executed.marketPrice, 629_874_000_000_000n)
    assert.equal(executed.percentProfit, 495_800_839_832n)
    assert.equal(executed.amountSentToTrader, 148_080_083n)
    assert.equal((await balanceOf(world(), ALICE.address)) - before, 148_080_083n)
  })

  it('cancel fee at a governance share of 24.5 %: a market open refused for slippage', async () => {
    assert.equal((await world().read('getGlobalTradeFeeParams', [])).govFeeP, 24_500)
    const { orderId } = await requestOpen(world(), ALICE)
    const refund = await gainOf(world(), ALICE.address, async () => {
      const refused = await world().answer(orderId, usd(70_000))
      assert.equal(onlyEvent(refused, 'GovFeeCharged').amountCollateral, 91_875n)
    })
    assert.equal(refund, usdc(100) - 91_875n)
  })

  // The Diamond has no view of the threshold. With no spread (LINK) and all fees cancelled by a negative additional
  // fee, the liquidation price of a long is Po - Po * threshold / (100 % * L): at Po = L * 1e9 the distance is the
  // threshold itself.
  for (const [leverage, threshold] of [
    [25_000n, 900_000_000_000n],
    [40_000n, 835_714_285_715n],
    [60_000n, 750_000_000_000n],
  ] as const) {
    it(`liquidation threshold at ${leverage / 1000n}x, read off the liquidation price without fees`, async () => {
      const openPrice = leverage * 10n ** 9n
      const collateral = usdc(100)
      const size = (collateral * leverage) / 1000n
      const fee = (size * 600_000_000n) / 10n ** 12n
      const input = { ...NEW_TRADE, pairIndex: LINK, openPrice, collateral, leverage, additionalFeeCollateral: -fee }
      assert.equal(openPrice - (await world().read('getTradeLiquidationPrice', [input])), threshold)
    })
  }

  it('short 40x at 60000 with 100 USDC: fees 2 x 2400000', async () => {
    const input = { ...NEW_TRADE, long: false, leverage: 40_000n, additionalFeeCollateral: 2_400_000n }
    assert.equal(await world().read('getTradeLiquidationPrice', [input]), 611_695_714_285_725n)
    const { outcome } = await openPosition(world(), ALICE, { long: false, leverage: 40_000 })
    assert.equal(onlyEvent(outcome, 'FeesProcessed').totalFeesCollateral, 2_400_000n)
  })

  it('stop loss clamp at 10x, when a limit order at 60000 is placed', async () => {
    const index = await placeOrder(world(), ALICE, { sl: usd(1_000) })
    const { sl } = await world().read('getTrade', [ALICE.address, index])
    assert.equal(usd(60_000) - sl, 50_280_000_000_000n)
  })

  it('stop loss clamp at 10x, by updateSl on a position opened at 60000 (LINK has no spread)', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const outcome = await world().send(ALICE, 'updateSl', [index, 1n])
    assert.equal(onlyEvent(outcome, 'TradeSlUpdated').newSl, 600_000_000_000_000n - 50_280_000_000_000n)
    const edge = 600_000_000_000_000n - 50_280_000_000_000n
    const kept = await world().send(ALICE, 'updateSl', [index, edge])
    assert.equal(onlyEvent(kept, 'TradeSlUpdated').newSl, edge, 'a stop loss exactly at the limit stays')
    const loose = await world().send(ALICE, 'updateSl', [index, edge + 1n])
    assert.equal(onlyEvent(loose, 'TradeSlUpdated').newSl, edge + 1n)
  })

  it('skew: a buy of 2 tokens at depth 1000 while longs hold 10 tokens more', async () => {
    await openPosition(world(), ALICE, { pairIndex: LINK, collateralAmount: usdc(60_000), openPrice: usd(60_000) })
    const oi = await world().read('getPairOiAfterV10Token', [USDC, LINK])
    assert.deepEqual(oi, { oiLongToken: tokens(10), oiShortToken: 0n })
    await world().configure('setSkewDepths', [USDC, [LINK], [tokens(1000)]])
    const skewOf = (long: boolean, open: boolean) =>
      world().read('getTradeSkewPriceImpactP', [USDC, LINK, long, tokens(2), open])
    assert.equal(await skewOf(true, true), 55_000_000n)
    assert.equal(await skewOf(false, false), 55_000_000n, 'a short that closes buys')
    assert.equal(await skewOf(false, true), 45_000_000n, 'a sell gets a better price')
  })

  it('funding: net 100000 tokens, coefficient 1e28, velocity cap 10000, one hour from rate 0 at 15', async () => {
    await setFunding(world(), LINK, {
      skewCoefficientPerYear: 10n ** 28n,
      absoluteVelocityPerYearCap: 10_000,
      absoluteRatePerSecondCap: 3_170_978,
      thetaThresholdUsd: 100_000,
    })
    const openPrice = usd(15)
    // Below theta the small trade alone moves no rate; no time passes between the two opens.
    const { index } = await openPosition(world(), BOB, { pairIndex: LINK, openPrice })
    await openPosition(world(), ALICE, {
      pairIndex: LINK,
      leverage: 149_900,
      collateralAmount: usdc(10_000),
      openPrice,
    })
    const { oiLongToken } = await world().read('getPairOiAfterV10Token', [USDC, LINK])
    assert.equal(oiLongToken, tokens(100_000) - 1n, 'each size is truncated')
    await passTime(world(), 3_600)
    assert.deepEqual(await world().read('getPairPendingAccFundingFees', [USDC, LINK, openPrice]), [
      308_219_178_078_000_000n,
      0n, // no short would earn it
      114_155_251_141n,
    ])
    assert.equal(await world().read('getTradeFundingFeesCollateral', [BOB.address, index, openPrice]), 2_054n)
  })

  it('borrowing v2: rate 31710 for one day, price unchanged', async () => {
    await setBorrowingRate(world(), LINK, 31_710)
    const openPrice = usd(15)
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, openPrice })
    await passTime(world(), 86_400)
    assert.equal(await world().read('getTradeBorrowingFeesCollateral', [ALICE.address, index, openPrice]), 2_739_744n)
    const { orderId } = await requestClose(world(), ALICE, index, openPrice)
    const paid = await gainOf(world(), ALICE.address, () => world().answer(orderId, openPrice))
    assert.equal(paid, usdc(100) - 2n * 750_000n - 2_739_744n)
  })

  it('the same position through a limit order: exact execution at its trigger gives the same numbers', async () => {
    const limit = await placeOrder(world(), ALICE, { openPrice: usd(60_000) })
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, limit)
    const answer = candle(usd(60_500), usd(59_500), usd(60_500))
    const executed = onlyEvent(await world().answer(orderId, answer), 'LimitExecuted')
    assert.equal(executed.exactExecution, true)
    assert.equal(executed.t.openPrice, 600_120_000_000_000n)
    assert.equal(executed.t.positionSizeToken, 16_663_333_999_866_693n)
    assert.equal(executed.liqPrice, 547_129_404_000_000n)
    assert.equal(executed.t.collateralAmount, VECTOR_TRADE.collateralAmount)
  })
})
