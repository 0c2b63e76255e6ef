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
/** Events of every change of a size: fees accrue up to it, the trade owes anew, volume and open interest count. */
const COUNTED = [
  'PendingAccFundingFeesStored',
  'PendingAccBorrowingFeesStored',
  'TradeInitialAccFeesStored',
  'BorrowingPairAccFeesUpdated',
  'BorrowingGroupAccFeesUpdated',
  'BorrowingInitialAccFeesStored',
  'TradeBorrowingCallbackHandled',
  'PriceImpactOpenInterestAdded',
  'PairOiAfterV10Updated',
]
const OPENED = [...COUNTED, 'TradeStored', 'TradingFeesRealized']
const CHANGED = ['HoldingFeesRealizedOnTrade', ...COUNTED, 'TradePositionUpdated']
const CLOSED = ['HoldingFeesRealizedOnTrade', ...COUNTED, 'TradeClosed', 'TradeValueTransferred']
const SHARED_FEES = ['GovFeeCharged', 'GTokenFeeCharged', 'GnsOtcFeeCharged', 'FeesProcessed']
/** Fee events of a triggered order, which pays the trigger share; for market orders that part goes to the OTC share. */
const SHARED_TRIGGER_FEES = [
  'GovFeeCharged',
  'GTokenFeeCharged',
  'TriggerFeeCharged',
  'GnsOtcFeeCharged',
  'FeesProcessed',
]

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
    assert.deepEqual(eventNames(done), [...CLOSED, ...SHARED_FEES, 'MarketExecuted', ...ANSWERED])
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
    assert.deepEqual(eventNames(done), [...CLOSED, ...SHARED_TRIGGER_FEES, 'LimitExecuted', ...ANSWERED])
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
    const charged = ['TradingFeesRealized', 'GovFeeCharged', 'LeverageUpdateExecuted', ...ANSWERED]
    assert.deepEqual(eventNames(done), ['TradePositionUpdated', ...charged])
    assert.equal(onlyEvent(done, 'LeverageUpdateExecuted').cancelReason, 0)
    const back = await world().send(ALICE, 'updateLeverage', [index, 9_000])
    const returned = await world().answer(onlyEvent(back, 'LeverageUpdateInitiated').orderId, usd(60_000))
    assert.deepEqual(eventNames(returned), ['TradePositionUpdated', 'TradeValueTransferred', ...charged])
  })

  it('size increase and decrease: asked, done', async () => {
    const { index } = await openPosition(world(), ALICE)
    const more = await world().send(ALICE, 'increasePositionSize', [index, usdc(50), 10_000, usd(60_000), 1_000])
    assert.deepEqual(eventNames(more), [...REQUESTED, 'PositionSizeUpdateInitiated'])
    const increased = await world().answer(onlyEvent(more, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    const grown = ['TradingFeesRealized', ...SHARED_FEES, 'PositionSizeIncreaseExecuted', ...ANSWERED]
    assert.deepEqual(eventNames(increased), [...CHANGED, ...grown])
    assert.equal(onlyEvent(increased, 'TradePositionUpdated').pendingOrderType, 8)
    const less = await world().send(ALICE, 'decreasePositionSize', [index, usdc(50), 0, usd(60_000)])
    assert.deepEqual(eventNames(less), [...REQUESTED, 'PositionSizeUpdateInitiated'])
    const decreased = await world().answer(onlyEvent(less, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    const shrunk = ['TradeValueTransferred', 'TradeFeesDataDownscaled', ...SHARED_FEES]
    assert.deepEqual(eventNames(decreased), [...CHANGED, ...shrunk, 'PositionSizeDecreaseExecuted', ...ANSWERED])
    assert.equal(onlyEvent(decreased, 'TradePositionUpdated').pendingOrderType, 9)
  })

  it('size decrease by leverage: done', async () => {
    const { index } = await openPosition(world(), ALICE)
    const less = await world().send(ALICE, 'decreasePositionSize', [index, 0n, 5_000, usd(60_000)])
    const decreased = await world().answer(onlyEvent(less, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    const settled = ['TradeValueTransferred', 'PnlRealizedOnOpenTrade', 'TradingFeesRealized', ...SHARED_FEES]
    assert.deepEqual(eventNames(decreased), [...CHANGED, ...settled, 'PositionSizeDecreaseExecuted', ...ANSWERED])
  })

  it('fees of a market order: governance 24.5 %, vault 15 %, the rest (with the trigger share) to the treasury', async () => {
    const { outcome } = await openPosition(world(), ALICE)
    assert.equal(onlyEvent(outcome, 'GovFeeCharged').amountCollateral, 183_750n)
    assert.equal(onlyEvent(outcome, 'GTokenFeeCharged').amountCollateral, 112_500n)
    assert.equal(onlyEvent(outcome, 'GnsOtcFeeCharged').amountCollateral, 453_750n)
    assert.equal(await world().read('getPendingGovFeesCollateral', [3]), 183_750n)
  })
})
