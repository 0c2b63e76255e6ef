import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ApiError,
  CancelReason,
  formatDecimal,
  Price,
  withScales,
  type Address,
  type CreateOrderRequest,
  type Decimal,
  type Warning,
} from '@bezel/protocol'
import fc from 'fast-check'
import { sharedWorld } from '../../../../../contracts/test/sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BTC as PAIR,
  balanceOf,
  candle,
  eventNames,
  flatten,
  LIMIT,
  STOP,
  placeOrder,
  trigger,
  TRIGGER,
  usd,
  usdc,
} from '../../../../../contracts/test/trading.ts'
import { onlyEvent, type Outcome } from '../../../../../contracts/test/world.ts'
import type { LivePosition } from '../positions/positionModel.ts'
import type { Trade } from '../valuation/chainState.ts'
import { wrapCalls } from './encodeCall.ts'
import { normalizeOrder } from './normalizeOrder.ts'
import type { Plan } from './plan.ts'
import { planCreateOrder } from './planCreateOrder.ts'
import { planUpdateOrder, type RestingOrder } from './planUpdateOrder.ts'
import { planUpdatePosition } from './planUpdatePosition.ts'
import { invalidStop } from './stops.ts'
import { ATTEMPT, BODY, contextOf, orderOf, positionOf } from './testing/fixtures.ts'

// What plans say about stops, against the contracts: whatever is accepted is what the chain then holds, and what is
// refused is what the chain would have taken and never honoured.

const TRADER = ALICE.address as Address
const PRICE = Price.of(usd(60_000))
const context = contextOf({ markOf: () => PRICE })
const RUNS = { numRuns: 30 }

const world = sharedWorld((prepared) => flatten(prepared, PAIR))

const tradeAt = async (index: number) => withScales<Trade>(await world().read('getTrade', [TRADER, index]))

function send({ calls }: Pick<Plan, 'calls'>): Promise<Outcome> {
  const { data } = wrapCalls({ calls, trader: TRADER, agent: TRADER, attemptId: ATTEMPT })
  return world().sendData(ALICE, world().plan.diamond, data)
}

function planned(body: Partial<CreateOrderRequest>) {
  const request = normalizeOrder({ ...BODY, ...body }, context)
  return planCreateOrder(request, context, { trader: TRADER, positions: [], collateral: undefined })
}

async function open(
  body: Partial<CreateOrderRequest>,
): Promise<{ position: LivePosition; warnings: readonly Warning[] }> {
  const plan = planned(body)
  const { orderId } = onlyEvent(await send(plan), 'MarketOrderInitiated')
  const { index } = onlyEvent(await world().answer(orderId, PRICE), 'MarketExecuted')
  const { state, record } = positionOf({}, String(index + 100))
  const trade = await tradeAt(index)
  return { position: { record: { ...record, trader: TRADER }, state: { ...state, trade } }, warnings: plan.warnings }
}

/** Returns the plan, or `undefined` when it is refused as something the chain would never honour. */
function unlessUnsupported<Planned>(plan: () => Planned): Planned | undefined {
  try {
    return plan()
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'UNSUPPORTED', String(error))
    return undefined
  }
}

const sides = fc.constantFrom('long' as const, 'short' as const)
const leverages = fc.integer({ min: 1_100, max: 150_000 }).map((units) => formatDecimal(BigInt(units), 3))
const cents = fc.integer({ min: 1, max: 12_000_000 }).map((units) => formatDecimal(BigInt(units), 2))
/** A size whose collateral is enough at any leverage. */
const SIZE = '0.15'

const priceOf = (text: Decimal): Price => Price.parse(text)!
const valueOf = (warnings: readonly Warning[], otherwise: Decimal) =>
  priceOf((warnings[0]?.value ?? otherwise) as Decimal)

describe('a stop loss is kept by the chain as the plan says', () => {
  it('for positions, and what is refused would protect nothing', async () => {
    await fc.assert(
      fc.asyncProperty(sides, leverages, cents, async (side, leverage, sl) => {
        const { position } = await open({ side, leverage, size: SIZE })
        const { index } = position.state.trade
        const plan = unlessUnsupported(() => planUpdatePosition(position, { sl }, context))
        if (plan === undefined) await world().send(ALICE, 'updateSl', [index, priceOf(sl)])
        else await send(plan)
        const kept = (await tradeAt(index)).sl
        const isOnItsSide = side === 'long' ? kept < PRICE : kept > PRICE
        assert.equal(plan !== undefined, kept !== 0n && isOnItsSide)
        if (plan === undefined) return
        assert.equal(plan.changes.sl, kept)
        assert.equal(valueOf(plan.warnings, sl), kept)
        // A value that was read can be sent back, and changes nothing.
        const again = { ...position, state: { ...position.state, trade: { ...position.state.trade, sl: kept } } }
        const repeat = planUpdatePosition(again, { sl: Price.format(kept) }, context)
        assert.deepEqual(repeat.warnings, [])
        await send(repeat)
        assert.equal((await tradeAt(index)).sl, kept)
      }),
      RUNS,
    )
  })

  it('for resting orders, when they are placed and when they are changed', async () => {
    const near = fc.integer({ min: 1, max: 9_999 })
    await fc.assert(
      fc.asyncProperty(sides, leverages, near, near, async (side, leverage, away, further) => {
        const [price, next] = side === 'long' ? ['50000', '48000'] : ['70000', '72000']
        const beyond = (from: string, by: number) => String(Number(from) + (side === 'long' ? -by : by)) as Decimal
        const sl = beyond(price!, away)
        const body = { type: 'limit', side, leverage, size: SIZE, price: price!, sl } as const
        const plan = planned(body)
        const { index } = onlyEvent(await send(plan), 'OpenOrderPlaced')
        const kept = (await tradeAt(index)).sl
        assert.equal(valueOf(plan.warnings, sl), kept)

        const order = orderOf({ tradeIndex: index, tp: null, sl: Price.format(kept) }, { ...plan.request, tp: null })
        const resting: RestingOrder = { ...order, record: { ...order.record, trader: TRADER }, held: undefined }
        const newSl = beyond(next!, further)
        const change = planUpdateOrder(resting, { price: next!, sl: newSl }, context)
        await send(change)
        const [placed] = (await world().read('getTrades', [TRADER])).slice(-1)
        assert.equal(change.changes.sl === undefined ? newSl : change.changes.sl, Price.format(Price.of(placed!.sl)))
        assert.equal(valueOf(change.warnings, newSl), placed!.sl)
      }),
      RUNS,
    )
  })

  it('for a market order near the estimate, which is measured at the mark', async () => {
    const { position, warnings } = await open({ sl: '40000' })
    const { sl, openPrice } = position.state.trade
    const estimate = valueOf(warnings, '40000' as Decimal)
    assert.notEqual(estimate, sl)
    assert.equal((sl * PRICE) / openPrice / 10n ** 4n, estimate / 10n ** 4n)
  })

  it('when the leverage changes', async () => {
    await fc.assert(
      fc.asyncProperty(sides, leverages, fc.integer({ min: 1, max: 9_000 }), async (side, leverage, by) => {
        const sl = String(side === 'long' ? 60_000 - by : 60_000 + by)
        const opened = unlessUnsupported(() => planned({ side, size: SIZE, sl, leverage: '3' }))
        assert.ok(opened !== undefined)
        const { position } = await open({ side, size: SIZE, sl, leverage: '3' })
        const { trade } = position.state
        if (leverage === '3') return
        const plan = unlessUnsupported(() => planUpdatePosition(position, { leverage }, context))
        if (plan === undefined) return
        const { orderId } = onlyEvent(await send(plan), 'LeverageUpdateInitiated')
        await world().answer(orderId, PRICE)
        const after = await tradeAt(trade.index)
        if (after.leverage === trade.leverage) return
        assert.equal(valueOf(plan.warnings, Price.format(trade.sl)), after.sl)
      }),
      RUNS,
    )
  })
})

describe('what is refused is never honoured by the chain', () => {
  it('a stop loss above the price of a long: no trigger of it is executed, however far the price falls', async () => {
    const { position } = await open({})
    const { index } = position.state.trade
    assert.equal(
      unlessUnsupported(() => planUpdatePosition(position, { sl: '99999' }, context)),
      undefined,
    )
    await world().send(ALICE, 'updateSl', [index, usd(99_999)])
    for (const price of [usd(60_000), usd(57_900)]) {
      const orderId = await trigger(world(), TRIGGER.sl, TRADER, index)
      const { cancelReason } = onlyEvent(await world().answer(orderId, candle(price)), 'TriggerOrderCanceled')
      assert.equal(cancelReason, CancelReason.SLIPPAGE)
    }
    assert.equal((await tradeAt(index)).isOpen, true)
  })

  it('a stop order that the price has passed by more than its slippage', async () => {
    const body = { type: 'stop', price: '59000' } as const
    assert.equal(
      unlessUnsupported(() => planned(body)),
      undefined,
    )
    const index = await placeOrder(world(), ALICE, { tradeType: STOP, openPrice: usd(59_000) })
    const orderId = await trigger(world(), TRIGGER.stop, TRADER, index)
    const { cancelReason } = onlyEvent(await world().answer(orderId, candle(PRICE)), 'TriggerOrderCanceled')
    assert.equal(cancelReason, CancelReason.SLIPPAGE)
    assert.equal((await tradeAt(index)).isOpen, true)
  })
})

describe('an order whose price may be reached', () => {
  /** Lets the keeper trigger an order at `PRICE`. Returns the reason of the refusal; `undefined` when it executed. */
  async function triggered(type: 'limit' | 'stop', index: number): Promise<number | undefined> {
    const orderId = await trigger(world(), TRIGGER[type], TRADER, index)
    const outcome = await world().answer(orderId, candle(PRICE))
    if (eventNames(outcome).includes('LimitExecuted')) return undefined
    return onlyEvent(outcome, 'TriggerOrderCanceled').cancelReason
  }

  /** Returns the field for which a plan is refused, and the codes of its warnings. */
  function told(body: Partial<CreateOrderRequest>): { readonly refused?: unknown; readonly codes: readonly string[] } {
    try {
      return { codes: planned(body).warnings.map(({ code }) => code) }
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code === 'UNSUPPORTED', String(error))
      return { refused: error.details?.field, codes: [] }
    }
  }

  it('executes, rests or reverts as is told, and what is refused the contracts take and do not execute', async () => {
    // In steps that are wider than the spread, within which the contracts refuse a take profit, too.
    const hundreds = (min: number, max: number) => fc.integer({ min, max }).map((n) => String(n * 100) as Decimal)
    const stops = fc.option(hundreds(400, 800), { nil: null })
    const orders = fc.record({
      side: sides,
      type: fc.constantFrom('limit' as const, 'stop' as const),
      factor: fc.integer({ min: 2, max: 60 }),
      price: hundreds(500, 700),
      sl: stops,
      tp: stops,
    })
    const reachedReasons = new Map<unknown, number>([
      ['sl', CancelReason.SL_REACHED],
      ['tp', CancelReason.TP_REACHED],
    ])
    await fc.assert(
      fc.asyncProperty(orders, async ({ side, type, factor, price, sl, tp }) => {
        const terms = { side, type, price, leverage: String(factor), size: SIZE, slippage: '30' }
        const { refused, codes } = told({ ...terms, ...(sl === null ? {} : { sl }), ...(tp === null ? {} : { tp }) })
        const trade = {
          tradeType: type === 'limit' ? LIMIT : STOP,
          long: side === 'long',
          leverage: factor * 1_000,
          collateralAmount: usdc(((Number(SIZE) * Number(price)) / factor).toFixed(6)),
          openPrice: priceOf(price),
          sl: sl === null ? 0n : priceOf(sl),
          tp: tp === null ? 0n : priceOf(tp),
        }
        const placing = placeOrder(world(), ALICE, trade, 30_000)
        const invalid = invalidStop({ side, price: priceOf(price), sl, tp })
        if (invalid !== undefined) {
          assert.equal(refused, undefined)
          await assertReverts(placing, invalid)
          return
        }
        const otherwise = codes.includes('marketable') ? undefined : CancelReason.NOT_HIT
        assert.equal(await triggered(type, await placing), reachedReasons.get(refused) ?? otherwise)
      }),
      RUNS,
    )
  })
})

describe('a change of collateral', () => {
  it('never takes more from the wallet, nor from the position, than was said', async () => {
    const amounts = fc.integer({ min: 1, max: 900_000_000 }).map((units) => formatDecimal(BigInt(units), 6))
    const actions = fc.constantFrom('add' as const, 'remove' as const)
    await fc.assert(
      fc.asyncProperty(leverages, actions, amounts, async (leverage, action, amount) => {
        const { position } = await open({ leverage, size: SIZE })
        const { index, collateralAmount } = position.state.trade
        let plan
        try {
          plan = planUpdatePosition(position, { collateral: { action, amount } }, context)
        } catch (error) {
          assert.ok(error instanceof ApiError)
          return
        }
        const before = await balanceOf(world(), TRADER)
        const { orderId } = onlyEvent(await send(plan), 'LeverageUpdateInitiated')
        const paid = before - (await balanceOf(world(), TRADER))
        assert.equal(paid, plan.takes?.amount ?? 0n)
        assert.ok(paid <= usdc(amount))
        await world().answer(orderId, PRICE)
        const moved = (await tradeAt(index)).collateralAmount - collateralAmount
        assert.ok(action === 'add' ? moved <= usdc(amount) : -moved <= usdc(amount))
        const [warning] = plan.warnings
        if (warning !== undefined && moved !== 0n) {
          assert.equal(usdc(warning.value!), action === 'add' ? moved : -moved)
        }
      }),
      RUNS,
    )
  })
})
