import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CancelReason } from '@bezel/protocol'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BTC,
  candle,
  flatten,
  gainOf,
  LINK,
  openPosition,
  requestClose,
  setDepth,
  setMaxLeverage,
  setMaxOi,
  trigger,
  TRIGGER,
  usd,
  usdc,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const { SLIPPAGE, EXPOSURE_LIMITS, PRICE_IMPACT, MAX_LEVERAGE, NO_TRADE, LIQ_REACHED } = CancelReason

/** Cost of a refused request: 24.5 % (the share of governance) of half the fee on 1250 USD. */
const CANCEL_FEE = 91_875n

/** Opening fee of a position of 100 USDC at 10x: 0.06 % of 1250 USD, the minimum. */
const OPENING_FEE = 750_000n

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await flatten(prepared, LINK)
})

describe('a close or a change of a position is refused', () => {
  it('SLIPPAGE (3): a market close is answered below the expected price; the trade stays and pays the cancel fee', async () => {
    const { index } = await openPosition(world(), ALICE)
    const { orderId } = await requestClose(world(), ALICE, index, usd(60_000))
    const gained = await gainOf(world(), ALICE.address, async () => {
      const canceled = onlyEvent(await world().answer(orderId, usd(59_300)), 'MarketCloseCanceled')
      assert.equal(canceled.cancelReason, SLIPPAGE)
      assert.equal(canceled.index, BigInt(index))
    })
    assert.equal(gained, 0n)
    assert.equal((await world().read('getTrade', [ALICE.address, index])).isOpen, true)
    const fees = await world().read('getTradeRealizedTradingFeesCollateral', [ALICE.address, index])
    assert.equal(fees, OPENING_FEE + CANCEL_FEE)
  })

  it('NO_TRADE (9): the position is liquidated while its market close waits for the answer', async () => {
    const { index } = await openPosition(world(), ALICE)
    const { orderId } = await requestClose(world(), ALICE, index)
    const liquidation = await trigger(world(), TRIGGER.liq, ALICE.address, index)
    onlyEvent(await world().answer(liquidation, candle(usd(50_000))), 'LimitExecuted')
    const gained = await gainOf(world(), ALICE.address, async () => {
      const canceled = onlyEvent(await world().answer(orderId, usd(60_000)), 'MarketCloseCanceled')
      assert.equal(canceled.cancelReason, NO_TRADE)
    })
    assert.equal(gained, 0n)
  })

  it('NO_TRADE (9): the same with a leverage decrease, whose collateral comes back whole', async () => {
    const { index } = await openPosition(world(), ALICE)
    const sent = await world().send(ALICE, 'updateLeverage', [index, 5_000])
    const liquidation = await trigger(world(), TRIGGER.liq, ALICE.address, index)
    await world().answer(liquidation, candle(usd(50_000)))
    const gained = await gainOf(world(), ALICE.address, async () => {
      const outcome = await world().answer(onlyEvent(sent, 'LeverageUpdateInitiated').orderId, usd(60_000))
      assert.equal(onlyEvent(outcome, 'LeverageUpdateExecuted').cancelReason, NO_TRADE)
    })
    assert.equal(gained, usdc(100))
  })

  it('NO_TRADE (9): the same with a size increase, whose collateral comes back whole', async () => {
    const { index } = await openPosition(world(), ALICE)
    const sent = await world().send(ALICE, 'increasePositionSize', [index, usdc(40), 10_000, usd(60_000), 1_000])
    const liquidation = await trigger(world(), TRIGGER.liq, ALICE.address, index)
    await world().answer(liquidation, candle(usd(50_000)))
    const gained = await gainOf(world(), ALICE.address, async () => {
      const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
      assert.equal(onlyEvent(outcome, 'PositionSizeIncreaseExecuted').cancelReason, NO_TRADE)
    })
    assert.equal(gained, usdc(40))
  })

  it('NO_TRADE (9): the position is closed at market while its take profit waits for the answer', async () => {
    const { index } = await openPosition(world(), ALICE, { tp: usd(61_000) })
    const takeProfit = await trigger(world(), TRIGGER.tp, ALICE.address, index)
    const { orderId } = await requestClose(world(), ALICE, index)
    onlyEvent(await world().answer(orderId, usd(60_000)), 'MarketExecuted')
    const canceled = onlyEvent(await world().answer(takeProfit, candle(usd(61_500))), 'TriggerOrderCanceled')
    assert.deepEqual([canceled.cancelReason, canceled.orderType], [NO_TRADE, TRIGGER.tp])
  })

  it('LIQ_REACHED (12): a leverage increase is answered beyond the new liquidation price', async () => {
    const { index } = await openPosition(world(), ALICE)
    const sent = await world().send(ALICE, 'updateLeverage', [index, 50_000])
    const gained = await gainOf(world(), ALICE.address, async () => {
      const outcome = await world().answer(onlyEvent(sent, 'LeverageUpdateInitiated').orderId, usd(58_000))
      assert.equal(onlyEvent(outcome, 'LeverageUpdateExecuted').cancelReason, LIQ_REACHED)
    })
    assert.equal(gained, 0n)
    assert.equal((await world().read('getTrade', [ALICE.address, index])).leverage, 10_000)
  })

  it('MAX_LEVERAGE (8): a leverage increase would exceed the maximum that was lowered meanwhile', async () => {
    const { index } = await openPosition(world(), ALICE)
    const sent = await world().send(ALICE, 'updateLeverage', [index, 20_000])
    await setMaxLeverage(world(), BTC, 19_000n)
    const outcome = await world().answer(onlyEvent(sent, 'LeverageUpdateInitiated').orderId, usd(60_012))
    assert.equal(onlyEvent(outcome, 'LeverageUpdateExecuted').cancelReason, MAX_LEVERAGE)
  })

  it('SLIPPAGE (3), EXPOSURE_LIMITS (6), PRICE_IMPACT (7), MAX_LEVERAGE (8): a size increase, its collateral refunded', async () => {
    const { index } = await openPosition(world(), ALICE)
    const cases: [number, bigint, () => Promise<unknown>, () => Promise<unknown>][] = [
      [SLIPPAGE, usd(60_700), async () => undefined, async () => undefined],
      [EXPOSURE_LIMITS, usd(60_012), () => setMaxOi(world(), BTC, 1_399n), () => setMaxOi(world(), BTC, 100_000_000n)],
      [PRICE_IMPACT, usd(60_012), () => setDepth(world(), BTC, 50), () => flatten(world(), BTC)],
      [MAX_LEVERAGE, usd(60_012), () => setMaxLeverage(world(), BTC, 9_000n), () => setMaxLeverage(world(), BTC, 0n)],
    ]
    for (const [reason, price, change, undo] of cases) {
      const slippage = reason === PRICE_IMPACT ? 65_535 : 1_000
      const gained = await gainOf(world(), ALICE.address, async () => {
        const sent = await world().send(ALICE, 'increasePositionSize', [index, usdc(40), 10_000, usd(60_012), slippage])
        await change()
        const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
        assert.equal(onlyEvent(outcome, 'PositionSizeIncreaseExecuted').cancelReason, reason)
        await undo()
      })
      assert.equal(gained, 0n, `reason ${reason}`)
    }
    const fees = await world().read('getTradeRealizedTradingFeesCollateral', [ALICE.address, index])
    assert.equal(fees, OPENING_FEE + BigInt(cases.length) * CANCEL_FEE)
  })

  it('SLIPPAGE (3) and LIQ_REACHED (12): a size decrease leaves the trade as it was', async () => {
    const { index } = await openPosition(world(), ALICE)
    for (const [reason, price, slippageP] of [
      [SLIPPAGE, usd(59_000), 1_000],
      [LIQ_REACHED, usd(54_000), 60_000],
    ] as const) {
      await world().send(ALICE, 'updateMaxClosingSlippageP', [index, slippageP])
      const sent = await world().send(ALICE, 'decreasePositionSize', [index, usdc(40), 0, usd(60_000)])
      const gained = await gainOf(world(), ALICE.address, async () => {
        const outcome = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, price)
        assert.equal(onlyEvent(outcome, 'PositionSizeDecreaseExecuted').cancelReason, reason)
      })
      assert.equal(gained, 0n)
    }
    assert.equal((await world().read('getTrade', [ALICE.address, index])).collateralAmount, usdc(100))
  })
})
