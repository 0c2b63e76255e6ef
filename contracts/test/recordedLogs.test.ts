import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadArtifact } from '@bezel/contracts'
import { encodeFunctionData } from 'viem'
import { DEPLOYER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, flatten, LINK, openPosition, requestOpen, setMaxLeverage, usdc, USDC } from './trading.ts'
import { onlyEvent } from './world.ts'

// Trades of the live Diamond on Arbitrum, recorded in public in September 2026. The local Diamond gets the same terms
// and must log the same numbers, to the last digit.

const GBP_JPY = 117

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, LINK)
})

/** Sets a fee group: the fee in 1e10 per percent, and a floor of one USD. */
async function setFee(feeIndex: number, totalPositionSizeFeeP: bigint): Promise<void> {
  const fee = { totalPositionSizeFeeP, totalLiqCollateralFeeP: 10n ** 11n, oraclePositionSizeFeeP: 0n }
  await world().configure('setFees', [[BigInt(feeIndex)], [{ ...fee, minPositionSizeUsd: 1_000, __placeholder: 0n }]])
}

/** Sets the price of USDC, 1e8. */
async function setUsdcPrice(price: bigint): Promise<void> {
  const { priceFeed } = world().plan.collaterals.find(({ index }) => index === USDC)!
  const { abi } = loadArtifact('UsdPriceFeed')
  const data = encodeFunctionData({ abi, functionName: 'set', args: [price] })
  await world().sendData(DEPLOYER.account, priceFeed, data)
}

describe('recorded trades', () => {
  it('a market open of GBP/JPY at 100x: execution price, tokens and liquidation price', async () => {
    await setFee(8, 160_000_000n)
    await setUsdcPrice(99_988_281n)
    const openPrice = 2_083_617_500_000n
    const stops = { tp: 2_110_000_000_000n, sl: 2_079_900_000_000n }
    const terms = { pairIndex: GBP_JPY, leverage: 100_000, collateralAmount: usdc(100), openPrice, ...stops }
    const { orderId } = await requestOpen(world(), ALICE, terms)
    const executed = onlyEvent(await world().answer(orderId, openPrice), 'MarketExecuted')
    assert.equal(executed.priceImpact.fixedSpreadP, 50_000_000n)
    assert.equal(executed.marketPrice, 2_083_721_680_875n)
    assert.equal(executed.t.positionSizeToken, 47_991_054_140_209_275_754n)
    assert.equal(executed.liqPrice, 2_066_334_511_821n)
    assert.deepEqual([executed.t.tp, executed.t.sl], [stops.tp, stops.sl])
    assert.equal(executed.collateralPriceUsd, 99_988_281n)
  })

  it('an increase of a 500x short: sizes, tokens, fee and the new open price', async () => {
    await setFee(0, 200_000_000n)
    await setUsdcPrice(99_989_728n)
    await setMaxLeverage(world(), LINK, 500_000n)
    const opened = { pairIndex: LINK, long: false, leverage: 500_000, collateralAmount: 4_300_000n }
    const { index } = await openPosition(world(), ALICE, { ...opened, openPrice: 827_985_380_000_000n })
    const price = 827_111_620_000_000n
    const args = [index, 3_362_820n, 500_000, price, 1_000] as const
    const sent = await world().send(ALICE, 'increasePositionSize', args)
    const answered = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
    const { values, cancelReason } = onlyEvent(answered, 'PositionSizeIncreaseExecuted')
    assert.equal(cancelReason, 0)
    assert.equal(values.positionSizeCollateralDelta, 1_681_410_000n)
    assert.equal(values.existingPositionSizeCollateral, 2_150_000_000n)
    assert.equal(values.newPositionSizeCollateral, 3_831_410_000n)
    assert.deepEqual([values.newCollateralAmount, values.newLeverage], [7_662_820n, 500_000n])
    assert.equal(values.priceImpact.positionSizeToken, 20_328_695_176_595_391n)
    assert.equal(values.existingPnlCollateral, 2_268_861n)
    assert.equal(values.oldPosSizePlusPnlCollateral, 2_147_731_139n)
    assert.equal(values.openingFeesCollateral, 336_282n)
    assert.equal(values.newOpenPrice, 827_601_704_196_923n)
  })
})
