import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEPLOYER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, flatten, gainOf, LINK, openPosition, usd, usdc } from './trading.ts'
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
          const delta = ((collateralDelta || usdc(100)) * BigInt(leverageDelta)) / 1_000n
          const pnl = (usdc(100) * pnlP(long, usd(60_000), price, BigInt(leverage))) / P12
          const old = long ? size + pnl : size - pnl
          const sum = old * usd(60_000) + delta * price
          const after = await trade(index)
          assert.equal(after.openPrice, (long ? sum + old + delta - 1n : sum) / (old + delta))
          assert.equal(after.collateralAmount, usdc(100) + collateralDelta)
          assert.equal(BigInt(after.leverage), ((size + delta) * 1_000n) / after.collateralAmount)
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

describe('a size decrease (the rule is ours)', () => {
  it('by collateral pays the part of the collateral and its own profit, less the fee on that part', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 50_000 })
    const price = usd(60_600)
    const raw = (usdc(40) * pnlP(true, usd(60_000), price, 50_000n)) / P12
    const gained = await gainOf(world(), ALICE.address, async () => {
      const { values, cancelReason } = await decrease(index, usdc(40), 0, price)
      assert.deepEqual([cancelReason, values.partialRawPnlCollateral, values.isLeverageUpdate], [0, raw, false])
    })
    assert.equal(gained, usdc(40) + raw - feeOn(usdc(2_000)))
    const after = await trade(index)
    assert.deepEqual([after.collateralAmount, after.leverage, after.openPrice], [usdc(60), 50_000, usd(60_000)])
    assert.equal(await realized(index), -feeOn(usdc(5_000)), 'earlier fees stay with what remains')
  })

  it('by leverage pays the profit only', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, leverage: 50_000 })
    const price = usd(60_600)
    const raw = (usdc(100) * pnlP(true, usd(60_000), price, 20_000n)) / P12
    const gained = await gainOf(world(), ALICE.address, () => decrease(index, 0n, 20_000, price))
    assert.equal(gained, raw - feeOn(usdc(2_000)))
    const after = await trade(index)
    assert.deepEqual([after.collateralAmount, after.leverage], [usdc(100), 30_000])
  })

  it('by leverage at a loss pays nothing: the loss and the fee become realised PnL of what remains', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    const price = usd(59_700)
    const raw = (usdc(100) * pnlP(true, usd(60_000), price, 4_000n)) / P12
    const gained = await gainOf(world(), ALICE.address, () => decrease(index, 0n, 4_000, price))
    assert.equal(gained, 0n)
    assert.equal(await realized(index), -feeOn(usdc(1_000)) + raw - feeOn(usdc(400)))
  })
})
