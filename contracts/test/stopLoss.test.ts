import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, BTC, flatten, LINK, openPosition, percent, placeOrder, usd } from './trading.ts'
import { onlyEvent } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await flatten(prepared, LINK)
})

/** Returns the distance of the furthest stop loss: the threshold less two fees of 0.06 % at leverage and less 5 %. */
function furthest(openPrice: bigint, leverage: bigint, thresholdP: bigint): bigint {
  const lossP = thresholdP - ((2n * percent('0.06') * leverage) / 1_000n + percent(5))
  return (openPrice * lossP * 1_000n) / leverage / 100n / 10n ** 10n
}

describe('a stop loss beyond what liquidation leaves is moved, not refused', () => {
  it('of a short order, above its price', async () => {
    const index = await placeOrder(world(), ALICE, { long: false, sl: usd(1_000_000) })
    const { sl } = await world().read('getTrade', [ALICE.address, index])
    assert.equal(sl, usd(60_000) + furthest(usd(60_000), 10_000n, percent(90)))
  })

  it('by the threshold of the leverage: 75 % from 60x on', async () => {
    const index = await placeOrder(world(), ALICE, { leverage: 100_000, sl: usd(1) })
    const { sl } = await world().read('getTrade', [ALICE.address, index])
    assert.equal(sl, usd(60_000) - furthest(usd(60_000), 100_000n, percent(75)))
  })

  it('of a market open, measured from the execution price', async () => {
    const { outcome } = await openPosition(world(), ALICE, { sl: usd(1) })
    const { t } = onlyEvent(outcome, 'MarketExecuted')
    assert.equal(t.openPrice, usd(60_012))
    assert.equal(t.sl, t.openPrice - furthest(t.openPrice, 10_000n, percent(90)))
    assert.equal(onlyEvent(outcome, 'TradeStored').trade.sl, t.sl)
  })

  it('to none at all when fees and margin leave nothing', async () => {
    const dear = { totalPositionSizeFeeP: percent('0.2'), totalLiqCollateralFeeP: 0n, oraclePositionSizeFeeP: 0n }
    await world().configure('setFees', [[0n], [{ ...dear, minPositionSizeUsd: 0n, __placeholder: 0n }]])
    const index = await placeOrder(world(), ALICE, { leverage: 200_000, sl: usd(59_999) })
    assert.equal((await world().read('getTrade', [ALICE.address, index])).sl, 0n)
  })

  it('again when the leverage grows', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK, sl: usd(56_000) })
    const sent = await world().send(ALICE, 'updateLeverage', [index, 20_000])
    const { orderId } = onlyEvent(sent, 'LeverageUpdateInitiated')
    const { newSl } = onlyEvent(await world().answer(orderId, usd(60_000)), 'TradePositionUpdated')
    assert.equal(newSl, usd(60_000) - furthest(usd(60_000), 20_000n, percent(90)))
  })

  it('and not at all when it is close, or in profit', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: LINK })
    for (const sl of [usd(59_999), usd(60_000), usd(70_000)]) {
      const outcome = await world().send(ALICE, 'updateSl', [index, sl])
      assert.equal(onlyEvent(outcome, 'TradeSlUpdated').newSl, sl)
    }
  })
})
