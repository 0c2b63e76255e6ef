import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Leverage, ORDER_STATUSES, type UpdateOrderRequest } from '@bezel/protocol'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { usd } from '../../market/testing/fixtures.ts'
import { usdc } from '../valuation/testing/fixtures.ts'
import { planUpdateOrder } from './planUpdateOrder.ts'
import { contextOf, decimal, decoded, issuePaths, orderOf, refusalOf, TRADER, withMarket } from './testing/fixtures.ts'

const updated = (body: UpdateOrderRequest, order = orderOf()) => planUpdateOrder(order, body, contextOf())

describe('an update of a resting order', () => {
  it('sends the unchanged values too', () => {
    const { calls, ...rest } = updated({ price: '51000.5' })
    assert.deepEqual(calls.map(decoded), [
      { name: 'updateOpenOrder', args: [5, usd(51_000.5), usd(70_000), 0n, 1_000] },
    ])
    assert.deepEqual(rest, {
      kind: 'update',
      action: { market: 'BTC/USD', leverage: null, spendUsd: 0n },
      validity: 'resting',
      takes: null,
      changes: { price: '51000.5' },
    })
  })

  it('changes what is in force, not what was asked for first', () => {
    const order = orderOf({
      price: decimal('49000.1234567891'),
      sl: decimal('40000'),
      tp: null,
      slippage: decimal('2'),
    })
    const [call] = updated({ slippage: '0.5' }, order).calls.map(decoded)
    assert.deepEqual(call?.args, [5, 490_001_234_567_891n, 0n, usd(40_000), 500])
  })

  it('clears sl and tp with 0', () => {
    const { calls, changes } = updated({ sl: '0', tp: '0' }, orderOf({ sl: decimal('40000') }))
    assert.deepEqual(calls.map(decoded)[0]?.args, [5, usd(50_000), 0n, 0n, 1_000])
    assert.deepEqual(changes, { sl: null, tp: null })
  })

  it('says exactly what it was told, for any values', () => {
    const cents = fc.bigInt({ min: 1n, max: 10n ** 11n })
    const text = (units: bigint) => `${units / 100n}.${String(units % 100n).padStart(2, '0')}`
    fc.assert(
      fc.property(cents, cents, cents, fc.integer({ min: 1, max: 65_535 }), (price, sl, tp, slippageP) => {
        const body = { price: text(price), sl: text(sl), tp: text(tp), slippage: String(slippageP / 1_000) }
        const [call] = updated(body).calls.map(decoded)
        assert.deepEqual(call?.args, [5, price * 10n ** 8n, tp * 10n ** 8n, sl * 10n ** 8n, slippageP])
      }),
    )
  })

  it('is taken while the market is closed', () => {
    planUpdateOrder(orderOf(), { price: '1' }, contextOf({ isOpen: () => false }))
  })
})

describe('a change of size', () => {
  it('cancels and places again, with everything else as it is in force', () => {
    const order = orderOf({ price: decimal('40000'), sl: decimal('30000'), slippage: decimal('2') })
    const { calls, ...rest } = updated({ size: '0.02' }, order)
    const trade = {
      user: TRADER,
      index: 0,
      pairIndex: 0,
      leverage: 10_000,
      long: true,
      isOpen: true,
      collateralIndex: 3,
      tradeType: 1,
      collateralAmount: usdc(80),
      openPrice: usd(40_000),
      tp: usd(70_000),
      sl: usd(30_000),
      isCounterTrade: false,
      positionSizeToken: 0n,
      __placeholder: 0,
    }
    assert.deepEqual(calls.map(decoded), [
      { name: 'cancelOpenOrder', args: [5] },
      { name: 'openTrade', args: [trade, 2_000, zeroAddress] },
    ])
    assert.deepEqual(rest, {
      kind: 'replace',
      // The notional is 800 USD now, of which 500 already count.
      action: { market: 'BTC/USD', leverage: 10_000n, spendUsd: 300n * 10n ** 18n },
      validity: 'resting',
      takes: { collateralIndex: 3, amount: usdc(80) },
      changes: { size: '0.02' },
    })
  })

  it('takes the other changes along', () => {
    const { calls, changes } = updated({ size: '0.005', price: '60000', tp: '0' })
    const trade = decoded(calls[1]!).args[0] as { collateralAmount: bigint; openPrice: bigint; tp: bigint }
    assert.deepEqual([trade.collateralAmount, trade.openPrice, trade.tp], [usdc(30), usd(60_000), 0n])
    assert.deepEqual(changes, { size: '0.005', price: '60000', tp: null })
  })

  it('to a smaller one spends nothing', () => {
    assert.equal(updated({ size: '0.005' }).action.spendUsd, 0n)
  })

  it('must be one that could be placed', () => {
    refusalOf(() => updated({ size: '0.0001' }), 'SIZE_BELOW_MINIMUM')
    const stricter = withMarket({ maxLeverage: Leverage.of(5_000n) })
    refusalOf(() => planUpdateOrder(orderOf(), { size: '0.02' }, stricter), 'LEVERAGE_OUT_OF_RANGE')
    refusalOf(() => updated({ size: '0.02' }, orderOf({}, { collateralIndex: 4 })), 'COLLATERAL_NOT_SUPPORTED')
  })
})

describe('an update is refused', () => {
  it('when it says nothing', () => {
    assert.deepEqual(
      issuePaths(() => updated({})),
      ['body'],
    )
  })

  it('for numbers that no order can have', () => {
    const body = { price: '0', size: '0', sl: '-1', tp: '-1', slippage: '0' }
    const paths = ['body.price', 'body.size', 'body.sl', 'body.tp', 'body.slippage']
    assert.deepEqual(
      issuePaths(() => updated(body)),
      paths,
    )
  })

  it('for decimals that the market does not take', () => {
    const precision = (body: UpdateOrderRequest) => refusalOf(() => updated(body), 'PRECISION_ERROR')
    assert.deepEqual(precision({ price: '1.123' }), { field: 'price', value: '1.123', maxDecimals: 2 })
    assert.deepEqual(precision({ sl: '1.123' }), { field: 'sl', value: '1.123', maxDecimals: 2 })
    assert.deepEqual(precision({ tp: '1.123' }), { field: 'tp', value: '1.123', maxDecimals: 2 })
    assert.deepEqual(precision({ size: '0.000001' }), { field: 'size', value: '0.000001', maxDecimals: 5 })
    assert.deepEqual(precision({ slippage: '1.0001' }), { field: 'slippage', value: '1.0001', maxDecimals: 3 })
  })

  for (const status of ORDER_STATUSES.filter((name) => name !== 'open')) {
    it(`for an order that is ${status}`, () => {
      const order = orderOf({ status, tradeIndex: null })
      const details = refusalOf(() => updated({ price: '1' }, order), 'ORDER_NOT_MODIFIABLE')
      assert.deepEqual(details, { id: '9', status })
    })
  }
})
