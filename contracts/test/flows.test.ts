import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  BTC,
  candle,
  eventNames,
  flatten,
  openPosition,
  placeOrder,
  requestClose,
  requestOpen,
  STOP,
  trigger,
  TRIGGER,
  usd,
  usdc,
  VECTOR_TRADE,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
})

/** Last events of every oracle answer that executes. */
const ANSWERED = ['PendingOrderClosed', 'TradingCallbackExecuted', 'PriceReceived']
const REQUESTED = ['PendingOrderStored', 'PriceRequested']
const ACCRUED = ['PendingAccFundingFeesStored', 'PendingAccBorrowingFeesStored']
const OPENED = [
  'TradeStored',
  ...ACCRUED,
  'TradeInitialAccFeesStored',
  'PairOiAfterV10Updated',
  'PriceImpactOpenInterestAdded',
  'TradingFeesRealized',
]
const CLOSED = [...ACCRUED, 'PairOiAfterV10Updated', 'PriceImpactOpenInterestAdded', 'TradeValueTransferred']
const SHARED_FEES = ['GovFeeCharged', 'GTokenFeeCharged', 'GnsOtcFeeCharged', 'FeesProcessed']
/** Fee events of a triggered order, which pays the trigger share; for market orders that part goes to the OTC share. */
const SHARED_TRIGGER_FEES = [
  'GovFeeCharged',
  'GTokenFeeCharged',
  'TriggerFeeCharged',
  'GnsOtcFeeCharged',
  'FeesProcessed',
]
const REALIZED = ['HoldingFeesRealizedOnTrade', 'TradeInitialAccFeesStored']

describe('the events of each action, in order', () => {
  it('market open: asked, done', async () => {
    const { orderId, outcome } = await requestOpen(world(), ALICE)
    assert.deepEqual(eventNames(outcome), [...REQUESTED, 'MarketOrderInitiated'])
    assert.deepEqual(onlyEvent(outcome, 'MarketOrderInitiated'), {
      orderId: { user: ALICE.address, index: 0 },
      trader: ALICE.address,
      pairIndex: BTC,
      open: true,
    })
    const done = await world().answer(orderId, usd(60_000))
    assert.deepEqual(eventNames(done), [...OPENED, ...SHARED_FEES, 'MarketExecuted', ...ANSWERED])
    const executed = onlyEvent(done, 'MarketExecuted')
    assert.deepEqual([executed.open, executed.index, executed.orderId], [true, 0, orderId])
    assert.deepEqual(executed.t, await world().read('getTrade', [ALICE.address, 0]))
  })

  it('market open: refused', async () => {
    const { orderId } = await requestOpen(world(), ALICE)
    const refused = await world().answer(orderId, usd(70_000))
    assert.deepEqual(eventNames(refused), ['GovFeeCharged', 'MarketOpenCanceled', ...ANSWERED])
  })

  it('market close: asked, refused, asked again, done', async () => {
    const { index } = await openPosition(world(), ALICE)
    const first = await requestClose(world(), ALICE, index)
    assert.deepEqual(eventNames(first.outcome), [...REQUESTED, 'MarketOrderInitiated'])
    assert.equal(onlyEvent(first.outcome, 'MarketOrderInitiated').open, false)
    const refused = await world().answer(first.orderId, usd(50_000))
    assert.deepEqual(eventNames(refused), ['TradingFeesRealized', 'GovFeeCharged', 'MarketCloseCanceled', ...ANSWERED])
    const second = await requestClose(world(), ALICE, index)
    const done = await world().answer(second.orderId, usd(60_000))
    assert.deepEqual(eventNames(done), [...CLOSED, ...SHARED_FEES, 'TradeClosed', 'MarketExecuted', ...ANSWERED])
  })

  it('limit and stop orders: placed, edited, cancelled', async () => {
    const outcome = await world().send(ALICE, 'openTrade', [{ ...VECTOR_TRADE, tradeType: STOP }, 1_000, ALICE.address])
    assert.deepEqual(eventNames(outcome), ['TradeStored', 'OpenOrderPlaced'])
    const edited = await world().send(ALICE, 'updateOpenOrder', [0, usd(61_000), 0n, 0n, 1_000])
    assert.deepEqual(eventNames(edited), ['OpenOrderDetailsUpdated', 'OpenLimitUpdated'])
    const cancelled = await world().send(ALICE, 'cancelOpenOrder', [0])
    assert.deepEqual(eventNames(cancelled), ['TradeClosed', 'OpenLimitCanceled'])
    assert.equal(onlyEvent(cancelled, 'TradeClosed').isPnlPositive, false)
  })

  it('limit order: triggered, not hit, triggered again, executed', async () => {
    const index = await placeOrder(world(), ALICE, {})
    const first = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const refused = await world().answer(first, candle(usd(61_000)))
    assert.deepEqual(eventNames(refused), ['TriggerOrderCanceled', ...ANSWERED])
    const second = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const done = await world().answer(second, candle(usd(60_000)))
    const expected = ['TradeClosed', ...OPENED, ...SHARED_TRIGGER_FEES, 'LimitExecuted', ...ANSWERED]
    assert.deepEqual(eventNames(done), expected)
  })

  it('take profit: edited, triggered, executed', async () => {
    const { index } = await openPosition(world(), ALICE)
    assert.deepEqual(eventNames(await world().send(ALICE, 'updateTp', [index, usd(61_000)])), ['TradeTpUpdated'])
    assert.deepEqual(eventNames(await world().send(ALICE, 'updateSl', [index, usd(59_000)])), ['TradeSlUpdated'])
    const orderId = await trigger(world(), TRIGGER.tp, ALICE.address, index)
    const done = await world().answer(orderId, candle(usd(61_100)))
    assert.deepEqual(eventNames(done), [...CLOSED, ...SHARED_TRIGGER_FEES, 'TradeClosed', 'LimitExecuted', ...ANSWERED])
    assert.equal(onlyEvent(done, 'TradeClosed').isPnlPositive, true)
  })

  it('closing slippage: edited', async () => {
    const { index } = await openPosition(world(), ALICE)
    const outcome = await world().send(ALICE, 'updateMaxClosingSlippageP', [index, 300])
    assert.deepEqual(eventNames(outcome), ['TradeMaxClosingSlippagePUpdated'])
    assert.equal((await world().read('getTradeInfo', [ALICE.address, index])).maxSlippageP, 300)
  })

  it('leverage update: asked, done', async () => {
    const { index } = await openPosition(world(), ALICE)
    const asked = await world().send(ALICE, 'updateLeverage', [index, 5_000])
    assert.deepEqual(eventNames(asked), [...REQUESTED, 'LeverageUpdateInitiated'])
    const done = await world().answer(onlyEvent(asked, 'LeverageUpdateInitiated').orderId, usd(60_000))
    const names = eventNames(done)
    assert.ok(names.includes('TradePositionUpdated'))
    assert.deepEqual(names.slice(-1 - ANSWERED.length), ['LeverageUpdateExecuted', ...ANSWERED])
    assert.equal(onlyEvent(done, 'LeverageUpdateExecuted').cancelReason, 0)
    assert.deepEqual(
      names.filter((name) => REALIZED.includes(name)),
      REALIZED,
    )
  })

  it('size increase and decrease: asked, done', async () => {
    const { index } = await openPosition(world(), ALICE)
    const more = await world().send(ALICE, 'increasePositionSize', [index, usdc(50), 10_000, usd(60_000), 1_000])
    assert.deepEqual(eventNames(more), [...REQUESTED, 'PositionSizeUpdateInitiated'])
    const increased = await world().answer(onlyEvent(more, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    assert.deepEqual(eventNames(increased).slice(-1 - ANSWERED.length), ['PositionSizeIncreaseExecuted', ...ANSWERED])
    assert.equal(onlyEvent(increased, 'TradePositionUpdated').pendingOrderType, 8)
    const less = await world().send(ALICE, 'decreasePositionSize', [index, usdc(50), 0, usd(60_000)])
    assert.deepEqual(eventNames(less), [...REQUESTED, 'PositionSizeUpdateInitiated'])
    const decreased = await world().answer(onlyEvent(less, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    assert.deepEqual(eventNames(decreased).slice(-1 - ANSWERED.length), ['PositionSizeDecreaseExecuted', ...ANSWERED])
    assert.equal(onlyEvent(decreased, 'TradePositionUpdated').pendingOrderType, 9)
  })

  it('fees of a market order: governance 24.5 %, vault 15 %, the rest (with the trigger share) to the treasury', async () => {
    const { outcome } = await openPosition(world(), ALICE)
    assert.equal(onlyEvent(outcome, 'GovFeeCharged').amountCollateral, 183_750n)
    assert.equal(onlyEvent(outcome, 'GTokenFeeCharged').amountCollateral, 112_500n)
    assert.equal(onlyEvent(outcome, 'GnsOtcFeeCharged').amountCollateral, 453_750n)
    assert.equal(await world().read('getPendingGovFeesCollateral', [3]), 183_750n)
  })
})
