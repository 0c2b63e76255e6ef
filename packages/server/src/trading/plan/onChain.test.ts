import type { LivePosition } from '../positions/positionModel.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  CancelReason,
  formatDecimal,
  PendingOrderType,
  Price,
  withScales,
  type Address,
  type CreateOrderRequest,
  type Decimal,
} from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { sharedWorld } from '../../../../../contracts/test/sharedWorld.ts'
import {
  ALICE,
  balanceOf,
  BTC as PAIR,
  candle,
  flatten,
  mineBlocks,
  trigger,
  TRIGGER,
  usd,
  usdc,
} from '../../../../../contracts/test/trading.ts'
import { onlyEvent, type Outcome } from '../../../../../contracts/test/world.ts'
import { AGENTS } from '../../../../devnet/src/deploy/accounts.ts'
import type { OrderState } from '../orders/orderModel.ts'
import { positionSize } from './closing.ts'
import { restoreSlippage } from './closingSlippage.ts'
import { normalizeOrder } from './normalizeOrder.ts'
import type { Trade } from '../valuation/chainState.ts'
import type { Plan, TradingContext } from './plan.ts'
import { planCancelOrder } from './planCancelOrder.ts'
import { planClosePosition } from './planClosePosition.ts'
import { planCreateOrder } from './planCreateOrder.ts'
import { planUpdateOrder, type RestingOrder } from './planUpdateOrder.ts'
import { planUpdatePosition } from './planUpdatePosition.ts'
import { ATTEMPT, BODY, contextOf, decimal, orderOf, positionOf } from './testing/fixtures.ts'
import { wrapCalls } from './encodeCall.ts'

// Checks that the contracts do what plans say: every plan is sent as encoded, by a delegate and by the trader itself.

const DELEGATE = AGENTS[0]!.account

const TRADER = ALICE.address as Address

const PRICE = Price.of(usd(60_000))

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, PAIR)
  await prepared.send(ALICE, 'setTradingDelegate', [DELEGATE.address])
})

const context: TradingContext = contextOf({ markOf: () => PRICE })

for (const [who, sender] of [
  ['a delegate', DELEGATE],
  ['the trader itself', ALICE],
] as const) {
  describe(`plans sent by ${who}`, () => plansSentBy(sender))
}

function plansSentBy(sender: PrivateKeyAccount): void {
  let before = 0n
  beforeEach(async () => {
    before = await balanceOf(world(), TRADER)
  })
  const paid = async () => before - (await balanceOf(world(), TRADER))

  function send({ calls }: Pick<Plan, 'calls'>): Promise<Outcome> {
    const agent = sender.address as Address
    const { data } = wrapCalls({ calls, trader: TRADER, agent, attemptId: ATTEMPT })
    return world().sendData(sender, world().plan.diamond, data)
  }
  const create = (body: Partial<CreateOrderRequest>, positions: readonly LivePosition[] = []) => {
    const request = normalizeOrder({ ...BODY, ...body }, context)
    return planCreateOrder(request, context, { trader: TRADER, positions, collateral: body.collateral })
  }
  const tradeAt = async (index: number) => withScales<Trade>(await world().read('getTrade', [TRADER, index]))
  const pending = () => world().read('getPendingOrders', [TRADER])

  async function openPosition(body: Partial<CreateOrderRequest> = {}): Promise<LivePosition> {
    const sent = await send(create(body))
    const outcome = await world().answer(onlyEvent(sent, 'MarketOrderInitiated').orderId, PRICE)
    return readPosition(onlyEvent(outcome, 'MarketExecuted').index)
  }

  async function readPosition(index: number): Promise<LivePosition> {
    const { state, record } = positionOf({}, String(index + 100))
    const trade = await tradeAt(index)
    const info = await world().read('getTradeInfo', [TRADER, index])
    const { maxSlippageP: maxClosingSlippageP } = info
    return { record: { ...record, trader: TRADER }, state: { ...state, trade, info, maxClosingSlippageP } }
  }

  /** Reads the resting order at an index from the chain. */
  async function readOrder(index: number, body: Partial<CreateOrderRequest>): Promise<RestingOrder> {
    const request = normalizeOrder({ ...BODY, ...body }, context)
    const { openPrice, sl, tp, collateralAmount } = await tradeAt(index)
    const { maxSlippageP } = await world().read('getTradeInfo', [TRADER, index])
    const text = (price: bigint): Decimal | null => (price === 0n ? null : formatDecimal(price, 10))
    const state: Partial<OrderState> = {
      tradeIndex: index,
      price: text(openPrice),
      sl: text(sl),
      tp: text(tp),
      slippage: formatDecimal(BigInt(maxSlippageP), 3),
    }
    const order = orderOf(state, request, collateralAmount)
    return { ...order, record: { ...order.record, trader: TRADER } }
  }

  const LIMIT = { type: 'limit', price: '50000', sl: '47000', slippage: '0.7' } as const

  async function placeLimit(): Promise<RestingOrder> {
    const { index } = onlyEvent(await send(create(LIMIT)), 'OpenOrderPlaced')
    return readOrder(index, LIMIT)
  }

  it('open at market', async () => {
    const plan = create({ side: 'short', sl: '61000', tp: '50000', slippage: '0.8' })
    await send(plan)
    const [order] = await pending()
    const { trade } = order!
    assert.equal(await paid(), plan.takes!.amount)
    assert.equal(order!.orderType, PendingOrderType.MARKET_OPEN)
    assert.deepEqual(
      [trade.user, trade.pairIndex, trade.leverage, trade.long, trade.collateralIndex, trade.collateralAmount],
      [TRADER, PAIR, 10_000, false, 3, usdc('59.988')],
    )
    assert.deepEqual([trade.openPrice, trade.sl, trade.tp, order!.maxSlippageP], [PRICE, usd(61_000), usd(50_000), 800])
    await world().answer({ user: TRADER, index: order!.index }, PRICE)
    assert.equal((await tradeAt(0)).isOpen, true)
  })

  it('place, update, replace and cancel a limit order', async () => {
    const order = await placeLimit()
    assert.deepEqual(
      [order.state.price, order.state.sl, order.state.tp, order.state.slippage],
      ['50000', '47000', null, '0.7'],
    )
    assert.equal(await paid(), usdc('50.01'))

    const index = order.state.tradeIndex!
    await send(planUpdateOrder(order, { price: '50010.25', sl: '0', tp: '70000' }, context))
    const changed = await readOrder(index, LIMIT)
    const { price, sl, tp, slippage } = changed.state
    assert.deepEqual([price, sl, tp, slippage], ['50010.25', null, '70000', '0.7'])
    assert.equal(await paid(), usdc('50.01'))

    const repriced = await send(planUpdateOrder(changed, { price: '51000.25' }, context))
    assert.equal(onlyEvent(repriced, 'OpenLimitCanceled').index, index)
    const moved = onlyEvent(repriced, 'OpenOrderPlaced').index
    assert.equal((await tradeAt(moved)).collateralAmount, usdc('51.010451'))
    assert.equal(await paid(), usdc('51.010451'))

    const body = { size: '0.02', slippage: '2' }
    const replaced = await send(planUpdateOrder(await readOrder(moved, LIMIT), body, context))
    const next = onlyEvent(replaced, 'OpenOrderPlaced').index
    const [old, trade] = [await tradeAt(moved), await tradeAt(next)]
    assert.deepEqual([old.isOpen, trade.isOpen, trade.tradeType, trade.long], [false, true, 1, true])
    assert.deepEqual([trade.openPrice, trade.tp, trade.sl], [usd('51000.25'), usd(70_000), 0n])
    assert.equal(trade.collateralAmount, usdc('102.020901'))
    assert.equal(await paid(), usdc('102.020901'))
    assert.equal((await world().read('getTradeInfo', [TRADER, next])).maxSlippageP, 2_000)

    const plan = planCancelOrder(await readOrder(next, LIMIT))
    assert.ok(plan !== 'withdraw')
    await send(plan)
    assert.equal((await tradeAt(next)).isOpen, false)
    assert.equal(await paid(), 0n)
  })

  it('place a stop order', async () => {
    const { index } = onlyEvent(await send(create({ type: 'stop', price: '65000' })), 'OpenOrderPlaced')
    assert.deepEqual([(await tradeAt(index)).tradeType, (await tradeAt(index)).openPrice], [2, usd(65_000)])
  })

  it('reclaim requests that were never answered', async () => {
    await send(create({}))
    await send(create({}))
    await mineBlocks(world(), await world().read('getMarketOrdersTimeoutBlocks', []))
    const plan = planCancelOrder(orderOf({ status: 'timed_out', tradeIndex: null, unanswered: [0, 1] }))
    assert.ok(plan !== 'withdraw')
    await send(plan)
    assert.equal(await paid(), 0n)
    assert.equal((await pending()).length, 0)
  })

  it('close a position', async () => {
    const position = await openPosition()
    const sent = await send(planClosePosition(position, {}, context))
    const outcome = await world().answer(onlyEvent(sent, 'MarketOrderInitiated').orderId, PRICE)
    assert.equal(onlyEvent(outcome, 'MarketExecuted').open, false)
    assert.equal((await tradeAt(position.state.trade.index)).isOpen, false)
  })

  it('close a part of a position, with a slippage of its own', async () => {
    const position = await openPosition()
    const { index, positionSizeToken } = position.state.trade
    const sent = await send(planClosePosition(position, { size: '0.004', slippage: '2.5' }, context))
    assert.equal((await world().read('getTradeInfo', [TRADER, index])).maxSlippageP, 2_500)
    const { orderId } = onlyEvent(sent, 'PositionSizeUpdateInitiated')
    onlyEvent(await world().answer(orderId, PRICE), 'PositionSizeDecreaseExecuted')
    const after = await readPosition(index)
    const closed = positionSizeToken - after.state.trade.positionSizeToken
    // The requested size, less at most the size that one unit of collateral stands for.
    const unit = positionSizeToken / position.state.trade.collateralAmount + 1n
    assert.ok(closed <= 4n * 10n ** 15n && closed > 4n * 10n ** 15n - 2n * unit, String(closed))
    // The rest of the position keeps the slippage; the next close sets its own.
    assert.equal(after.state.maxClosingSlippageP, 2_500)
    await send(planClosePosition(after, {}, context))
    assert.equal((await readPosition(index)).state.maxClosingSlippageP, 1_000)
  })

  it('close all of a position with a slippage, by its size as an order can say it', async () => {
    const position = await openPosition()
    const text = formatDecimal(positionSize(position, context) / 10n ** 13n, 5)
    const sent = await send(planClosePosition(position, { size: text, slippage: '3' }, context))
    await world().answer(onlyEvent(sent, 'MarketOrderInitiated').orderId, PRICE)
    assert.equal((await tradeAt(position.state.trade.index)).isOpen, false)
  })

  it('close the most that leaves something, and more is everything', async () => {
    const position = await openPosition()
    const { trade } = position.state
    const least = await world().read('pairMinFeeUsd', [BigInt(PAIR)])
    const unit = 10n ** 13n
    const whole = positionSize(position, context)
    // The largest size whose rest still covers the minimum fee.
    const kept = (least * whole) / (trade.collateralAmount * 10n ** 12n)
    const largest = (whole - kept) / unit - 1n
    const part = planClosePosition(position, { size: formatDecimal(largest, 5) }, context)
    const beyond = planClosePosition(position, { size: formatDecimal(largest + 2n, 5) }, context)
    const sent = await send(part)
    onlyEvent(sent, 'PositionSizeUpdateInitiated')
    assert.equal(beyond.calls[0]!.slice(0, 10), planClosePosition(position, {}, context).calls[0]!.slice(0, 10))
  })

  it('set and clear sl and tp', async () => {
    const position = await openPosition()
    const { index } = position.state.trade
    await send(planUpdatePosition(position, { sl: '58000.5', tp: '70000' }, context))
    const set = await tradeAt(index)
    assert.deepEqual([set.sl, set.tp], [usd('58000.5'), usd(70_000)])
    await send(planUpdatePosition(position, { sl: '0', tp: '0' }, context))
    const cleared = await tradeAt(index)
    assert.deepEqual([cleared.sl, cleared.tp], [0n, 0n])
  })

  it('set a stop that executes although a tight close was refused before', async () => {
    const position = await openPosition({ sl: '58000' })
    const { index } = position.state.trade
    // Half the spread of BTC, 0.02 %, is beyond the slippage.
    const sent = await send(planClosePosition(position, { slippage: '0.01' }, context))
    const refused = await world().answer(onlyEvent(sent, 'MarketOrderInitiated').orderId, PRICE)
    assert.equal(onlyEvent(refused, 'MarketCloseCanceled').cancelReason, CancelReason.SLIPPAGE)
    const cross = async () => {
      const orderId = await trigger(world(), TRIGGER.sl, TRADER, index)
      return world().answer(orderId, candle(usd(58_000)))
    }
    assert.equal(onlyEvent(await cross(), 'TriggerOrderCanceled').cancelReason, CancelReason.SLIPPAGE)

    const left = await readPosition(index)
    const plan = restoreSlippage(left, planUpdatePosition(left, { sl: '58000' }, context), false)
    await send(plan)
    assert.equal((await readPosition(index)).state.maxClosingSlippageP, 1_000)
    onlyEvent(await cross(), 'LimitExecuted')
    assert.equal((await tradeAt(index)).isOpen, false)
  })

  for (const [what, body] of [
    ['lower the leverage', { leverage: '7.5' }],
    ['raise the leverage', { leverage: '12.345' }],
    ['add collateral', { collateral: { action: 'add', amount: '12.345678' } }],
    ['remove collateral', { collateral: { action: 'remove', amount: '12.345678' } }],
  ] as const) {
    it(what, async () => {
      const position = await openPosition()
      const { index, collateralAmount, positionSizeToken } = position.state.trade
      const start = await balanceOf(world(), TRADER)
      const plan = planUpdatePosition(position, body, context)
      const sent = await send(plan)
      assert.equal(start - (await balanceOf(world(), TRADER)), plan.takes?.amount ?? 0n)
      await world().answer(onlyEvent(sent, 'LeverageUpdateInitiated').orderId, PRICE)
      const after = await tradeAt(index)
      assert.equal(after.positionSizeToken, positionSizeToken)
      if (plan.takes !== null) assert.equal(after.collateralAmount, collateralAmount + plan.takes.amount)
      if ('leverage' in body) assert.equal(formatDecimal(BigInt(after.leverage), 3), decimal(body.leverage))
      else {
        const amount = usdc(body.collateral.amount)
        const moved = after.collateralAmount - collateralAmount
        const short = amount - (body.collateral.action === 'add' ? moved : -moved)
        assert.ok(short >= 0n, 'never more than was asked')
        assert.ok(short <= after.collateralAmount / BigInt(after.leverage) + 1n)
      }
    })
  }

  it('reduce two positions with one order', async () => {
    const positions = [await openPosition({ side: 'short' }), await openPosition({ side: 'short' })]
    const [first, second] = positions.map(({ state }) => state.trade)
    const plan = create({ reduceOnly: true, size: '0.015', slippage: '1.5' }, positions)
    await send(plan)
    for (const { index } of await pending()) await world().answer({ user: TRADER, index }, PRICE)
    assert.equal((await tradeAt(first!.index)).isOpen, false)
    const rest = await tradeAt(second!.index)
    const closed = first!.positionSizeToken + second!.positionSizeToken - rest.positionSizeToken
    assert.ok(rest.isOpen)
    assert.ok(closed <= 15n * 10n ** 15n && closed > 15n * 10n ** 15n - 10n ** 12n, String(closed))
    assert.deepEqual(
      plan.request.legs.map(({ positionId }) => positionId),
      positions.map(({ record }) => record.id),
    )
  })

  it('reduce as many positions as one transaction holds', async () => {
    const positions: LivePosition[] = []
    for (let i = 0; i < 20; i += 1) positions.push(await openPosition({ side: 'short', size: '0.001' }))
    await send(create({ reduceOnly: true, size: '1' }, positions))
    assert.equal((await pending()).length, 20)
  })
}
