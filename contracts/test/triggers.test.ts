import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CancelReason } from '@bezel/protocol'
import { AGENTS, DEPLOYER, KEEPER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BOB,
  BTC,
  candle,
  flatten,
  gainOf,
  LIMIT,
  LINK,
  openPosition,
  packTrigger,
  placeOrder,
  requestClose,
  STOP,
  tokens,
  trigger,
  TRIGGER,
  usd,
  usdc,
  USDC,
} from './trading.ts'
import { onlyEvent, type Candle } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
  await flatten(prepared, LINK)
})

/** LINK has no spread: the execution price is the oracle's. */
const AT_60000 = { pairIndex: LINK, openPrice: usd(60_000) }

async function execute(orderType: number, index: number, answer: Candle) {
  const orderId = await trigger(world(), orderType, ALICE.address, index)
  return onlyEvent(await world().answer(orderId, answer), 'LimitExecuted')
}

async function assertNotHit(orderType: number, index: number, answer: Candle): Promise<void> {
  const orderId = await trigger(world(), orderType, ALICE.address, index)
  const { cancelReason } = onlyEvent(await world().answer(orderId, answer), 'TriggerOrderCanceled')
  assert.equal(cancelReason, CancelReason.NOT_HIT)
}

/** Candles wholly above or below a price, which open `by` USD from it. */
const above = (price: bigint, by: number) => candle(price + usd(by), price + 1n, price + usd(by + 1))
const below = (price: bigint, by: number) => candle(price - usd(by), price - usd(by + 1), price - 1n)
/** Candles that open beyond a price and reach exactly that price. */
const touchedFromAbove = (price: bigint) => candle(price + usd(100), price, price + usd(200))
const touchedFromBelow = (price: bigint) => candle(price - usd(100), price - usd(200), price)

describe('limit and stop orders', () => {
  // A limit buys at or below its trigger and sells at or above; a stop the reverse.
  for (const [name, tradeType, orderType, long, waitsFor] of [
    ['a limit long', LIMIT, TRIGGER.limit, true, 'below'],
    ['a limit short', LIMIT, TRIGGER.limit, false, 'above'],
    ['a stop long', STOP, TRIGGER.stop, true, 'above'],
    ['a stop short', STOP, TRIGGER.stop, false, 'below'],
  ] as const) {
    it(`${name} executes exactly at its trigger, or at the open ${waitsFor} it, and not on the other side`, async () => {
      const place = () => placeOrder(world(), ALICE, { ...AT_60000, tradeType, long })
      const [hit, missed] = waitsFor === 'below' ? [below, above] : [above, below]
      const index = await place()
      await assertNotHit(orderType, index, missed(usd(60_000), 50))
      const touched = waitsFor === 'below' ? touchedFromAbove : touchedFromBelow
      const exact = await execute(orderType, index, touched(usd(60_000)))
      assert.deepEqual([exact.exactExecution, exact.t.openPrice, exact.orderType], [true, usd(60_000), orderType])
      const gap = hit(usd(60_000), 50)
      const atOpen = await execute(orderType, await place(), gap)
      assert.deepEqual([atOpen.exactExecution, atOpen.t.openPrice], [false, gap.open])
    })
  }

  it('become a position with a new index; the order keeps its own and is closed', async () => {
    const first = await placeOrder(world(), ALICE, AT_60000)
    const second = await placeOrder(world(), ALICE, { ...AT_60000, tp: usd(61_000), sl: usd(59_000) }, 700)
    assert.deepEqual([first, second], [0, 1])
    const executed = await execute(TRIGGER.limit, second, candle(usd(60_000)))
    assert.deepEqual([executed.limitIndex, executed.index, executed.user], [1, 2, ALICE.address])
    assert.deepEqual([executed.orderId.user, executed.triggerCaller], [KEEPER.account.address, KEEPER.account.address])
    assert.deepEqual([executed.percentProfit, executed.amountSentToTrader], [0n, 0n])
    const order = await world().read('getTrade', [ALICE.address, 1])
    assert.deepEqual([order.isOpen, order.tradeType, order.openPrice], [false, LIMIT, usd(60_000)])
    const position = await world().read('getTrade', [ALICE.address, 2])
    assert.deepEqual(
      [position.isOpen, position.tradeType, position.tp, position.sl],
      [true, 0, usd(61_000), usd(59_000)],
    )
    const open = await world().read('getTrades', [ALICE.address])
    assert.deepEqual(
      open.map(({ index, tradeType }) => [index, tradeType]),
      [
        [0, LIMIT],
        [2, 0],
      ],
    )
    const counter = await world().read('getCounters', [ALICE.address, 0])
    assert.deepEqual([counter.currentIndex, counter.openCount], [3, 2])
  })

  it('count in the space of trades, pending orders in another; the keeper has its own', async () => {
    await placeOrder(world(), ALICE, AT_60000)
    const { index } = await openPosition(world(), ALICE, AT_60000)
    assert.equal(index, 1)
    const pending = await world().read('getCounters', [ALICE.address, 1])
    assert.deepEqual([pending.currentIndex, pending.openCount], [1, 0])
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, 0)
    assert.deepEqual(orderId, { user: KEEPER.account.address, index: 0 })
    const order = await world().read('getPendingOrder', [orderId])
    assert.deepEqual([order.trade.user, order.trade.index, order.orderType], [ALICE.address, 0, TRIGGER.limit])
  })

  it('carry their opening slippage in TradeInfo; the position starts without one (0, meaning 1 % at the close)', async () => {
    const index = await placeOrder(world(), ALICE, AT_60000, 700)
    assert.equal((await world().read('getTradeInfo', [ALICE.address, index])).maxSlippageP, 700)
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const { blockNumber } = await world().answer(orderId, candle(usd(60_000)))
    const block = Number(blockNumber)
    assert.deepEqual(await world().read('getTradeInfo', [ALICE.address, index + 1]), {
      createdBlock: block,
      tpLastUpdatedBlock: block,
      slLastUpdatedBlock: block,
      maxSlippageP: 0,
      lastOiUpdateTs: world().chain.head().timestampS,
      collateralPriceUsd: 100_000_000,
      contractsVersion: 2,
      lastPosIncreaseBlock: block,
      __placeholder: 0,
    })
  })
})

describe('take profit and stop loss', () => {
  for (const [name, long, orderType, at, waitsFor] of [
    ['the take profit of a long', true, TRIGGER.tp, 61_000, 'above'],
    ['the take profit of a short', false, TRIGGER.tp, 59_000, 'below'],
    ['the stop loss of a long', true, TRIGGER.sl, 59_000, 'below'],
    ['the stop loss of a short', false, TRIGGER.sl, 61_000, 'above'],
  ] as const) {
    it(`${name} executes exactly at its price, or at the open ${waitsFor} it, and not on the other side`, async () => {
      const level = orderType === TRIGGER.tp ? { tp: usd(at) } : { sl: usd(at) }
      const open = async () => (await openPosition(world(), ALICE, { ...AT_60000, long, ...level })).index
      const [hit, missed] = waitsFor === 'below' ? [below, above] : [above, below]
      const touched = waitsFor === 'below' ? touchedFromAbove : touchedFromBelow
      const index = await open()
      await assertNotHit(orderType, index, missed(usd(at), 50))
      const exact = await execute(orderType, index, touched(usd(at)))
      assert.deepEqual([exact.exactExecution, exact.marketPrice, exact.limitIndex], [true, usd(at), 0])
      const gap = hit(usd(at), 50)
      const atOpen = await execute(orderType, await open(), gap)
      assert.deepEqual([atOpen.exactExecution, atOpen.marketPrice], [false, gap.open])
      const pnlP = ((long ? 1n : -1n) * (gap.open - usd(60_000)) * 10n ** 12n * 10_000n) / usd(60_000) / 1000n
      assert.equal(atOpen.percentProfit, pnlP)
      const worth = usdc(100) + (usdc(100) * pnlP) / 10n ** 12n - 2n * 750_000n
      assert.equal(atOpen.amountSentToTrader, worth)
    })
  }

  it('fail with SLIPPAGE when the gap is wider than the closing slippage, 1 % unless it was set', async () => {
    const { index } = await openPosition(world(), ALICE, { ...AT_60000, sl: usd(59_000) })
    const refused = async (open: bigint) => {
      const orderId = await trigger(world(), TRIGGER.sl, ALICE.address, index)
      return onlyEvent(await world().answer(orderId, candle(open)), 'TriggerOrderCanceled').cancelReason
    }
    const limit = usd(59_000) - usd(590)
    assert.equal(await refused(limit - 1n), CancelReason.SLIPPAGE)
    await world().send(ALICE, 'updateMaxClosingSlippageP', [index, 500])
    assert.equal(await refused(usd(59_000) - usd(295) - 1n), CancelReason.SLIPPAGE)
    const executed = await execute(TRIGGER.sl, index, candle(usd(59_000) - usd(295)))
    assert.equal(executed.marketPrice, usd(58_705))
  })

  it('are edited at once: 0 removes, a take profit on the wrong side is accepted, the lookback starts anew', async () => {
    const { index } = await openPosition(world(), ALICE, { ...AT_60000, tp: usd(61_000), sl: usd(59_000) })
    const tpUpdate = await world().send(ALICE, 'updateTp', [index, usd(1)])
    assert.equal(onlyEvent(tpUpdate, 'TradeTpUpdated').newTp, usd(1))
    const slUpdate = await world().send(ALICE, 'updateSl', [index, 0n])
    assert.equal(onlyEvent(slUpdate, 'TradeSlUpdated').newSl, 0n)
    const lookback = (orderType: number) => world().read('getLookbackFromBlock', [ALICE.address, index, orderType])
    assert.equal(BigInt(await lookback(TRIGGER.tp)), tpUpdate.blockNumber)
    assert.equal(BigInt(await lookback(TRIGGER.sl)), slUpdate.blockNumber)
    assert.ok(BigInt(await lookback(TRIGGER.liq)) < tpUpdate.blockNumber)
    const sent = await world().send(KEEPER.account, 'triggerOrder', [packTrigger(TRIGGER.tp, ALICE.address, index)])
    const requested = onlyEvent(sent, 'PriceRequested')
    assert.deepEqual([requested.isLookback, requested.fromBlock], [true, tpUpdate.blockNumber])
  })
})

describe('liquidation', () => {
  for (const long of [true, false]) {
    it(`of a ${long ? 'long' : 'short'} executes at its price, pays the trader nothing and 10 % as fee`, async () => {
      const { index, outcome } = await openPosition(world(), ALICE, { ...AT_60000, long })
      const { liqPrice } = onlyEvent(outcome, 'MarketExecuted')
      const [missed, touched] = long ? [above, touchedFromAbove] : [below, touchedFromBelow]
      await assertNotHit(TRIGGER.liq, index, missed(liqPrice, 50))
      const orderId = await trigger(world(), TRIGGER.liq, ALICE.address, index)
      const gained = await gainOf(world(), ALICE.address, async () => {
        const executed = await world().answer(orderId, touched(liqPrice))
        const { exactExecution, oraclePrice, amountSentToTrader, orderType } = onlyEvent(executed, 'LimitExecuted')
        assert.deepEqual([exactExecution, oraclePrice, amountSentToTrader, orderType], [true, liqPrice, 0n, 6])
        assert.equal(onlyEvent(executed, 'FeesProcessed').totalFeesCollateral, usdc(10))
        assert.equal(onlyEvent(executed, 'TradeClosed').isPnlPositive, false)
      })
      assert.equal(gained, 0n)
    })
  }

  it('has no slippage: a gap far beyond the price liquidates at the open', async () => {
    const { index } = await openPosition(world(), ALICE, AT_60000)
    const executed = await execute(TRIGGER.liq, index, candle(usd(30_000)))
    assert.deepEqual([executed.exactExecution, executed.oraclePrice], [false, usd(30_000)])
    assert.equal(executed.percentProfit, -(10n ** 12n))
  })

  it('has neither spread nor impact: it executes at the oracle price itself', async () => {
    const { index } = await openPosition(world(), ALICE, { pairIndex: BTC })
    const { oraclePrice, marketPrice, priceImpact } = await execute(TRIGGER.liq, index, candle(usd(50_000)))
    assert.deepEqual([oraclePrice, marketPrice], [usd(50_000), usd(50_000)])
    assert.deepEqual([priceImpact.totalPriceImpactP, priceImpact.positionSizeToken], [0n, 0n])
  })

  it('leaves nothing to a market close either: one unit before its price pays 10 %, at its price nothing', async () => {
    const { index, outcome } = await openPosition(world(), ALICE, AT_60000)
    const { liqPrice } = onlyEvent(outcome, 'MarketExecuted')
    for (const [price, pays] of [
      [liqPrice + 1n, true],
      [liqPrice, false],
    ] as const) {
      const snapshotId = await world().snapshot()
      const { orderId } = await requestClose(world(), ALICE, index, price)
      const { amountSentToTrader } = onlyEvent(await world().answer(orderId, price), 'MarketExecuted')
      assert.equal(amountSentToTrader > usdc(9), pays)
      assert.equal(amountSentToTrader === 0n, !pays)
      await world().restore(snapshotId)
    }
  })

  it('looks at the oracle price, the other triggers at the market price (shifted by the skew)', async () => {
    await openPosition(world(), BOB, { ...AT_60000, collateralAmount: usdc(60_000) }) // longs hold 10 tokens more
    const { index, outcome } = await openPosition(world(), ALICE, { ...AT_60000, tp: usd(63_000) })
    const { liqPrice } = onlyEvent(outcome, 'MarketExecuted')
    await world().configure('setSkewDepths', [USDC, [LINK], [tokens(100)]])
    const { oiLongToken } = await world().read('getPairOiAfterV10Token', [USDC, LINK])
    const skewP = (oiLongToken * 10n ** 10n) / tokens(100) / 2n
    assert.equal(await world().read('getTradeSkewPriceImpactP', [USDC, LINK, true, 0n, true]), skewP)
    await assertNotHit(TRIGGER.liq, index, candle(liqPrice + 1n))
    // The market stands about 0.05 % above the oracle, so an oracle price below the take profit already reaches it.
    const scale = 100n * 10n ** 10n + skewP
    const oraclePrice = (usd(63_000) * 10n ** 12n + scale - 1n) / scale
    assert.ok(oraclePrice < usd(62_970))
    await assertNotHit(TRIGGER.tp, index, candle(oraclePrice - usd(1)))
    const executed = await execute(TRIGGER.tp, index, candle(oraclePrice - usd(1), oraclePrice - usd(2), usd(62_990)))
    assert.deepEqual([executed.exactExecution, executed.oraclePrice], [true, oraclePrice])
  })
})

describe('the trigger caller', () => {
  it('pays one LINK unless it is exempt', async () => {
    const { index } = await openPosition(world(), ALICE)
    const packed = packTrigger(TRIGGER.liq, ALICE.address, index)
    const caller = AGENTS[0]!.account
    await assert.rejects(world().send(caller, 'triggerOrder', [packed]), /reverted with unknown/, "the token's error")
    await world().send(DEPLOYER.account, 'updateByPassTriggerLink', [[caller.address], [true]])
    const outcome = await world().send(caller, 'triggerOrder', [packed])
    assert.equal(onlyEvent(outcome, 'TriggerOrderInitiated').byPassesLinkCost, true)
  })

  it('is refused WrongOrderType, NoTrade, PendingTrigger, NoSl, NoTp, WrongTradeType in this order', async () => {
    const send = (orderType: number, index: number) =>
      world().send(KEEPER.account, 'triggerOrder', [packTrigger(orderType, ALICE.address, index)])
    for (const orderType of [0, 1, 7, 8, 9, 13, 255]) await assertReverts(send(orderType, 9), 'WrongOrderType')
    await assertReverts(send(TRIGGER.sl, 9), 'NoTrade')
    const order = await placeOrder(world(), ALICE, { tradeType: STOP, tp: usd(61_000) })
    await assertReverts(send(TRIGGER.sl, order), 'NoSl')
    for (const orderType of [TRIGGER.tp, TRIGGER.limit, TRIGGER.liq]) {
      await assertReverts(send(orderType, order), 'WrongTradeType')
    }
    const { index } = await openPosition(world(), ALICE)
    await assertReverts(send(TRIGGER.tp, index), 'NoTp')
    await assertReverts(send(TRIGGER.sl, index), 'NoSl')
    await assertReverts(send(TRIGGER.stop, index), 'WrongTradeType')
    await trigger(world(), TRIGGER.stop, ALICE.address, order)
    await assertReverts(send(TRIGGER.stop, order), 'PendingTrigger')
  })
})
