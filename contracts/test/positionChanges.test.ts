import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEPLOYER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, flatten, gainOf, LINK, openPosition, readLiquidationPrice, usd, usdc } from './trading.ts'
import { onlyEvent } from './world.ts'

/** LINK without depth, skew and holding fees: orders execute at the oracle's price, and only trading fees apply. */
const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

const P12 = 10n ** 12n
const CANCEL_FEE = 91_875n

const pnlP = (long: boolean, open: bigint, price: bigint, leverage: bigint): bigint =>
  ((long ? price - open : open - price) * P12 * leverage) / open / 1_000n
const feeOn = (size: bigint): bigint => ((size > usdc(1_250) ? size : usdc(1_250)) * 6n) / 10_000n

const trade = (index: number) => world().read('getTrade', [ALICE.address, index])
const realized = async (index: number) =>
  (await world().read('getTradeRealizedPnlCollateral', [ALICE.address, index]))[2]

async function increase(index: number, collateral: bigint, leverage: number, price: bigint) {
  const args = [index, collateral, leverage, price, 1_000] as const
  const sent = await world().send(ALICE, 'increasePositionSize', args)
  const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
  return onlyEvent(outcome, 'PositionSizeIncreaseExecuted')
}

async function decrease(index: number, collateral: bigint, leverage: number, price: bigint) {
  const sent = await world().send(ALICE, 'decreasePositionSize', [index, collateral, leverage, price])
  const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
  return onlyEvent(outcome, 'PositionSizeDecreaseExecuted')
}

async function updateLeverage(index: number, leverage: number, price: bigint) {
  const sent = await world().send(ALICE, 'updateLeverage', [index, leverage])
  const outcome = await world().answer(onlyEvent(sent, 'LeverageUpdateInitiated').orderId, price)
  return onlyEvent(outcome, 'LeverageUpdateExecuted')
}

describe('a size increase', () => {
  it('averages the open price against the trader: up for longs, down for shorts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.integer({ min: 2_000, max: 20_000 }),
        fc.bigInt({ min: usd(58_500), max: usd(61_500) }),
        fc.constantFrom(0n, usdc(37) + 11n),
        fc.integer({ min: 500, max: 15_000 }),
        async (long, leverage, price, collateralDelta, leverageDelta) => {
          const snapshotId = await world().snapshot()
          const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, long, leverage })
          const before = await trade(index)
          const { values, cancelReason } = await increase(index, collateralDelta, leverageDelta, price)
          assert.equal(cancelReason, 0)
          const size = (usdc(100) * BigInt(leverage)) / 1_000n
          const asked = size + ((collateralDelta || usdc(100)) * BigInt(leverageDelta)) / 1_000n
          // The leverage is truncated, and with it the size.
          const newLeverage = (asked * 1_000n) / (usdc(100) + collateralDelta)
          const delta = ((usdc(100) + collateralDelta) * newLeverage) / 1_000n - size
          const pnl = (usdc(100) * pnlP(long, usd(60_000), price, BigInt(leverage))) / P12
          const old = long ? size + pnl : size - pnl
          const sum = old * usd(60_000) + delta * price
          const after = await trade(index)
          assert.equal(after.openPrice, (long ? sum + old + delta - 1n : sum) / (old + delta))
          assert.equal(after.collateralAmount, usdc(100) + collateralDelta)
          assert.equal(BigInt(after.leverage), newLeverage)
          const bought = (delta * 10n ** 22n) / price
          assert.equal(after.positionSizeToken, before.positionSizeToken + bought)
          assert.equal(values.openingFeesCollateral, feeOn(delta))
          assert.equal(await realized(index), -feeOn(size) - feeOn(delta))
          await world().restore(snapshotId)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('measures leverage against what the trade is worth, before any closing fee', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const { values } = await increase(index, usdc(100), 10_000, usd(60_000))
    const worth = usdc(200) - feeOn(usdc(1_000)) - feeOn(usdc(1_000))
    assert.equal(values.newEffectiveLeverage, (usdc(2_000) * 1_000n) / worth)
  })

  it('takes over the liquidation parameters of the day and restarts the protection', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const params = { ...(await world().read('getPairLiquidationParams', [BigInt(LINK)])), maxLiqSpreadP: 123 }
    await world().send(DEPLOYER.account, 'setGroupLiquidationParams', [10n, params])
    assert.notDeepEqual(await world().read('getTradeLiquidationParams', [ALICE.address, index]), params)
    await increase(index, 0n, 1_000, usd(60_000))
    assert.deepEqual(await world().read('getTradeLiquidationParams', [ALICE.address, index]), params)
    const { lastPosIncreaseBlock } = await world().read('getTradeInfo', [ALICE.address, index])
    assert.equal(lastPosIncreaseBlock, world().chain.head().number)
  })
})

describe('a leverage update', () => {
  for (const [leverage, what] of [
    [7_000, 'takes collateral in'],
    [13_000, 'gives collateral back'],
  ] as const) {
    it(`keeps the size and ${what}, for the minimum governance fee`, async () => {
      const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
      const before = await trade(index)
      const collateral = (usdc(100) * 10_000n) / BigInt(leverage)
      const gained = await gainOf(world(), ALICE.address, async () => {
        const { values, cancelReason } = await updateLeverage(index, leverage, usd(60_300))
        assert.deepEqual([cancelReason, values.govFeeCollateral], [0, CANCEL_FEE])
      })
      assert.equal(gained, usdc(100) - collateral)
      const after = await trade(index)
      assert.deepEqual(
        [after.leverage, after.collateralAmount, after.openPrice, after.positionSizeToken],
        [leverage, collateral, before.openPrice, before.positionSizeToken],
      )
      assert.equal(await realized(index), -feeOn(usdc(1_000)) - CANCEL_FEE)
    })
  }

  it('may go below the minimum of the group, down to 0.1x', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    await updateLeverage(index, 100, usd(60_000))
    assert.equal((await trade(index)).collateralAmount, usdc(10_000))
  })
})

describe('a size decrease', () => {
  const record = (index: number) => world().read('getTradeFeesData', [ALICE.address, index])

  it('by collateral pays that part of the collateral and of the net profit, less the fee on that part', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 50_000 })
    const price = usd(60_600)
    const raw = (usdc(40) * pnlP(true, usd(60_000), price, 50_000n)) / P12
    const opening = feeOn(usdc(5_000))
    const gained = await gainOf(world(), ALICE.address, async () => {
      const { values, cancelReason } = await decrease(index, usdc(40), 0, price)
      assert.deepEqual([cancelReason, values.partialRawPnlCollateral, values.isLeverageUpdate], [0, raw, false])
      assert.equal(values.partialNetPnlCollateral, raw - (opening * 4n) / 10n)
    })
    assert.equal(gained, usdc(40) + raw - (opening * 4n) / 10n - feeOn(usdc(2_000)))
    const after = await trade(index)
    assert.deepEqual([after.collateralAmount, after.leverage, after.openPrice], [usdc(60), 50_000, usd(60_000)])
    assert.equal(await realized(index), -(opening * 6n) / 10n, 'the earlier fees are scaled like the trade')
  })

  it('by collateral scales the whole record, tells all of it in one event, and rounds against the trader', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: usd(59_000), max: usd(61_000) }),
        fc.bigInt({ min: usdc(5), max: usdc(90) }),
        fc.boolean(),
        async (price, part, isLosing) => {
          const snapshotId = await world().snapshot()
          const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
          // A part by leverage at a profit or a loss first, so that every field of the record is in use.
          await decrease(index, 0n, 3_000, isLosing ? usd(58_000) : usd(61_500))
          const before = await record(index)
          const { collateralAmount, leverage } = await trade(index)
          const sent = await world().send(ALICE, 'decreasePositionSize', [index, part, 0, price])
          const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
          assert.equal(onlyEvent(outcome, 'PositionSizeDecreaseExecuted').cancelReason, 0)
          const told = onlyEvent(outcome, 'TradeFeesDataDownscaled')
          const size = (collateralAmount * BigInt(leverage)) / 1_000n
          const closed = (part * BigInt(leverage)) / 1_000n
          assert.deepEqual(
            [told.positionSizeCollateralDelta, told.existingPositionSizeCollateral, told.newCollateralAmount],
            [closed, size, collateralAmount - part],
          )
          const { realizedTradingFeesCollateral: fees, realizedPnlCollateral: pnl } = before
          const lost = before.alreadyTransferredNegativePnlCollateral
          assert.equal(lost > 0n, isLosing)
          const towardsZero = pnl > 0n ? (closed * pnl + size - 1n) / size : -((closed * -pnl) / size)
          assert.deepEqual(told.newTradeFeesData, {
            ...before,
            realizedTradingFeesCollateral: fees - (closed * fees) / size,
            realizedPnlCollateral: pnl - towardsZero,
            alreadyTransferredNegativePnlCollateral: lost - (closed * lost) / size,
          })
          assert.deepEqual(await record(index), told.newTradeFeesData)
          await world().restore(snapshotId)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('by collateral leaves the liquidation price as it said it would', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 50_000 })
    const { values } = await decrease(index, usdc(50), 0, usd(60_300))
    const now = await readLiquidationPrice(world(), ALICE.address, index, usd(60_300))
    assert.equal(now, values.newLiqPrice)
    // Half of the opening fee of 3 USDC is left, and a closing fee of 1.5 on 2,500: 3 of 50 USDC at 50x.
    const threshold = 900_000_000_000n - (25_000n * 150_000_000_000n) / 35_000n
    const allowed = usdc(50) * threshold - usdc(3) * P12
    assert.equal(now, usd(60_000) - (usd(60_000) * allowed) / P12 / usdc(2_500))
  })

  it('by collateral is refused when the fee is more than the part', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const { cancelReason, values } = await decrease(index, usdc('0.5'), 0, usd(60_000))
    assert.ok(values.collateralSentToTrader < 0n)
    assert.equal(cancelReason, 10)
    assert.equal((await trade(index)).collateralAmount, usdc(100))
  })

  it('by leverage pays the net profit only; the opening fee counts by the part that closes', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 50_000 })
    const price = usd(60_600)
    const raw = (usdc(100) * pnlP(true, usd(60_000), price, 50_000n) * 2n) / 5n / P12
    const net = raw - (feeOn(usdc(5_000)) * 2n) / 5n - feeOn(usdc(2_000))
    const gained = await gainOf(world(), ALICE.address, () => decrease(index, 0n, 20_000, price))
    assert.equal(gained, net)
    const after = await trade(index)
    assert.deepEqual([after.collateralAmount, after.leverage], [usdc(100), 30_000])
    assert.equal(await realized(index), -feeOn(usdc(5_000)) + raw - net - feeOn(usdc(2_000)))
  })

  it('by leverage at a loss pays nothing: the vault gets the loss, which stays with the trade as realised PnL', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const price = usd(59_700)
    const raw = (usdc(100) * pnlP(true, usd(60_000), price, 10_000n) * 4n) / 10n / P12
    const vault = world().plan.collaterals.find(({ index: at }) => at === 3)!.vault
    const toVault = await gainOf(world(), vault, async () => {
      const gained = await gainOf(world(), ALICE.address, async () => {
        const { values } = await decrease(index, 0n, 4_000, price)
        assert.deepEqual([values.collateralSentToTrader, values.pnlToRealizeCollateral], [raw, raw])
      })
      assert.equal(gained, 0n)
    })
    const shareOfFee = (feeOn(usdc(400)) * 15_000n) / 100_000n
    assert.equal(toVault, -raw + shareOfFee)
    assert.equal(await realized(index), -feeOn(usdc(1_000)) + raw - feeOn(usdc(400)))
    const { realizedPnlCollateral, alreadyTransferredNegativePnlCollateral } = await record(index)
    assert.deepEqual([realizedPnlCollateral, alreadyTransferredNegativePnlCollateral], [raw, -raw])
  })
})
