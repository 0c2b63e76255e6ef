import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CancelReason } from '@bezel/protocol'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BOB,
  BTC,
  candle,
  flatten,
  gainOf,
  LINK,
  openPosition,
  placeOrder,
  setDepth,
  setMaxLeverage,
  setMaxOi,
  requestOpen,
  trigger,
  TRIGGER,
  usd,
  usdc,
  USDC,
  type OrderId,
  type Trade,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const {
  SLIPPAGE,
  TP_REACHED,
  SL_REACHED,
  EXPOSURE_LIMITS,
  PRICE_IMPACT,
  MAX_LEVERAGE,
  NO_TRADE,
  NOT_HIT,
  LIQ_REACHED,
  COUNTER_TRADE_CANCELED,
} = CancelReason

/** Cost of a refused request: 24.5 % (the share of governance) of half the fee on 1250 USD. */
const CANCEL_FEE = 91_875n

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await flatten(prepared, LINK)
})

/** Requests a market open, lets the test change something, answers, and checks the reason and the exact refund. */
async function assertOpenRefused(
  reason: number,
  terms: Partial<Trade>,
  answeredPrice: bigint,
  between: () => Promise<unknown> = async () => undefined,
  maxSlippageP?: number,
): Promise<void> {
  const collateral = terms.collateralAmount ?? usdc(100)
  const lost = await gainOf(world(), ALICE.address, async () => {
    const { orderId } = await requestOpen(world(), ALICE, terms, maxSlippageP)
    await between()
    const outcome = await world().answer(orderId, answeredPrice)
    const canceled = onlyEvent(outcome, 'MarketOpenCanceled')
    assert.equal(canceled.cancelReason, reason)
    assert.deepEqual(canceled.orderId, orderId)
    assert.equal(canceled.collateralReturned, collateral - CANCEL_FEE)
    assert.equal((await world().read('getPendingOrder', [orderId])).isOpen, false)
  })
  assert.equal(lost, -CANCEL_FEE)
  assert.deepEqual(await world().read('getTrades', [ALICE.address]), [])
}

/** Triggers a resting order, answers, and checks that the order stays and no fee is charged. */
async function assertTriggerRefused(
  reason: number,
  index: number,
  orderId: OrderId,
  answer: ReturnType<typeof candle>,
) {
  const gained = await gainOf(world(), ALICE.address, async () => {
    const canceled = onlyEvent(await world().answer(orderId, answer), 'TriggerOrderCanceled')
    assert.equal(canceled.cancelReason, reason)
  })
  assert.equal(gained, 0n)
  assert.equal((await world().read('getTrade', [ALICE.address, index])).isOpen, true)
}

const ORACLE_AND_FLOOR = { oraclePositionSizeFeeP: 0n, minPositionSizeUsd: 405_406n, __placeholder: 0n }

describe('a market open is refused', () => {
  it('SLIPPAGE (3): the answer lies further above the expected price than the slippage allows', () =>
    assertOpenRefused(SLIPPAGE, {}, usd(60_600)))

  it('SLIPPAGE (3): one unit decides, execution price against expected price plus slippage', async () => {
    const exact = usd(60_000) + usd(60_000) / 100n
    await assertOpenRefused(SLIPPAGE, { pairIndex: LINK }, exact + 1n)
    const { orderId } = await requestOpen(world(), ALICE, { pairIndex: LINK })
    onlyEvent(await world().answer(orderId, exact), 'MarketExecuted')
  })

  it('SLIPPAGE (3): a short is answered too low', () => assertOpenRefused(SLIPPAGE, { long: false }, usd(59_400)))

  it('TP_REACHED (4): the spread puts the execution price at the take profit, the oracle is still below', () =>
    assertOpenRefused(TP_REACHED, { tp: usd(60_012) }, usd(60_000)))

  it('SL_REACHED (5): the oracle answers at the stop loss, the execution price is still above', () =>
    assertOpenRefused(SL_REACHED, { sl: usd(59_900) }, usd(59_900)))

  it('LIQ_REACHED (12): fees of 200x leave less than the spread, so the trade would open liquidated', async () => {
    const fees = [{ totalPositionSizeFeeP: 1_850_000_000n, totalLiqCollateralFeeP: 10n ** 11n, ...ORACLE_AND_FLOOR }]
    await assertOpenRefused(LIQ_REACHED, { leverage: 200_000, collateralAmount: usdc(100) }, usd(60_000), async () => {
      // Requested at a fee of 0.06 %, answered at 0.185 %: two of them cost 74 % of the collateral. The minimum
      // position size falls with it, so that the cancel fee stays exactly the same.
      await world().configure('setFees', [[0n], fees])
    })
  })

  it('EXPOSURE_LIMITS (6): the pair is filled up to its limit between request and answer', () =>
    assertOpenRefused(EXPOSURE_LIMITS, {}, usd(60_000), () => setMaxOi(world(), BTC, 999n)))

  it('EXPOSURE_LIMITS (6): the skew limit falls between request and answer', () =>
    assertOpenRefused(EXPOSURE_LIMITS, {}, usd(60_000), () =>
      world().configure('setMaxSkews', [USDC, [BTC], [999n * 10n ** 10n]]),
    ))

  it('PRICE_IMPACT (7): the book thins out between request and answer, so that the impact costs 60 % of the collateral', () =>
    assertOpenRefused(PRICE_IMPACT, {}, usd(60_000), () => setDepth(world(), BTC, 50), 65_535))

  it('MAX_LEVERAGE (8): the pair is closed to new trades between request and answer', () =>
    assertOpenRefused(MAX_LEVERAGE, {}, usd(60_000), () => setMaxLeverage(world(), BTC, 1n)))

  it('COUNTER_TRADE_CANCELED (13): a counter trade meets no skew that it could reduce', () =>
    assertOpenRefused(COUNTER_TRADE_CANCELED, { isCounterTrade: true }, usd(60_000)))

  it('COUNTER_TRADE_CANCELED (13): the skew it was to reduce is smaller than the trade; half of it passes', async () => {
    await openPosition(world(), BOB, { long: false, collateralAmount: usdc(60) })
    await assertOpenRefused(COUNTER_TRADE_CANCELED, { isCounterTrade: true }, usd(60_000))
    const { outcome } = await openPosition(world(), ALICE, { isCounterTrade: true, collateralAmount: usdc(50) })
    assert.equal(onlyEvent(outcome, 'MarketExecuted').t.isCounterTrade, true)
  })
})

describe('a trigger is refused and the order stays', () => {
  it('NOT_HIT (11): neither the candle nor its open reached a limit order', async () => {
    const index = await placeOrder(world(), ALICE, { openPrice: usd(60_000) })
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await assertTriggerRefused(NOT_HIT, index, orderId, candle(usd(60_002), usd(60_001), usd(61_000)))
  })

  it('NOT_HIT (11): a take profit, a stop loss and a liquidation nobody reached', async () => {
    const { index } = await openPosition(world(), ALICE, { tp: usd(61_000), sl: usd(59_000) })
    for (const orderType of [TRIGGER.tp, TRIGGER.sl, TRIGGER.liq]) {
      const orderId = await trigger(world(), orderType, ALICE.address, index)
      await assertTriggerRefused(NOT_HIT, index, orderId, candle(usd(60_000), usd(59_001), usd(60_999)))
    }
  })

  it('SLIPPAGE (3): a stop order opens far beyond its trigger', async () => {
    const index = await placeOrder(world(), ALICE, { tradeType: 2, openPrice: usd(60_000) })
    const orderId = await trigger(world(), TRIGGER.stop, ALICE.address, index)
    await assertTriggerRefused(SLIPPAGE, index, orderId, candle(usd(61_000)))
  })

  it('EXPOSURE_LIMITS (6) and MAX_LEVERAGE (8): limits fell while a limit order was resting', async () => {
    const index = await placeOrder(world(), ALICE, {})
    await setMaxOi(world(), BTC, 1n)
    const first = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await assertTriggerRefused(EXPOSURE_LIMITS, index, first, candle(usd(60_000)))
    await setMaxOi(world(), BTC, 1_000_000n)
    await setMaxLeverage(world(), BTC, 1n)
    const second = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await assertTriggerRefused(MAX_LEVERAGE, index, second, candle(usd(60_000)))
  })

  it('NO_TRADE (9): a limit order is executed by the first of two triggers', async () => {
    const index = await placeOrder(world(), ALICE, {})
    const first = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const timeout = await world().read('getTriggerTimeoutBlocks', [])
    await world().chain.request('hardhat_mine', [`0x${timeout.toString(16)}`])
    const second = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    onlyEvent(await world().answer(second, candle(usd(60_000))), 'LimitExecuted')
    const canceled = onlyEvent(await world().answer(first, candle(usd(60_000))), 'TriggerOrderCanceled')
    assert.equal(canceled.cancelReason, NO_TRADE)
  })
})
