import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Leverage, ORDER_STATUSES, Usd, type UpdateOrderRequest } from '@bezel/protocol'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { usd } from '../../market/testing/fixtures.ts'
import { usdc } from '../valuation/testing/fixtures.ts'
import { planUpdateOrder } from './planUpdateOrder.ts'
import {
  contextOf,
  decimal,
  decoded,
  issuePaths,
  MARK,
  orderOf,
  refusalOf,
  TRADER,
  withMarket,
} from './testing/fixtures.ts'

const updated = (body: UpdateOrderRequest, order = orderOf()) => planUpdateOrder(order, body, contextOf())

describe('an update of a resting order', () => {
  it('sends the unchanged values too', () => {
    const { calls, ...rest } = updated({ tp: '71000.5' })
    assert.deepEqual(calls.map(decoded), [
      { name: 'updateOpenOrder', args: [5, usd(50_000), usd(71_000.5), 0n, 1_000] },
    ])
    assert.deepEqual(rest, {
      kind: 'update',
      action: { market: 'BTC/USD', leverage: null, spendUsd: 0n },
      validity: 'resting',
      takes: null,
      warnings: [],
      changes: { tp: '71000.5' },
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
      fc.property(cents, fc.integer({ min: 1, max: 65_535 }), (tp, slippageP) => {
        const body = { tp: text(tp), slippage: String(slippageP / 1_000) }
        const [call] = updated(body).calls.map(decoded)
        assert.deepEqual(call?.args, [5, usd(50_000), tp * 10n ** 8n, 0n, slippageP])
      }),
    )
  })

  it('needs no price of the feed, and is taken while the market is closed', () => {
    const markOf = () => assert.fail('asked')
    const lastMarkOf = () => ({ price: MARK, atMs: 1_000, ageMs: 0 })
    planUpdateOrder(orderOf(), { tp: '80000' }, contextOf({ isOpen: () => false, markOf, lastMarkOf }))
  })
})

describe('a change of price', () => {
  it('cancels and places again, so that the size stays what the order says', () => {
    const { calls, ...rest } = updated({ price: '45000' })
    assert.deepEqual(
      calls.map((call) => decoded(call).name),
      ['cancelOpenOrder', 'openTrade'],
    )
    const trade = decoded(calls[1]!).args[0] as { collateralAmount: bigint; openPrice: bigint }
    assert.deepEqual([trade.collateralAmount, trade.openPrice], [usdc(45.009), usd(45_000)])
    assert.deepEqual(rest, {
      kind: 'replace',
      action: { market: 'BTC/USD', leverage: 10_000n, spendUsd: Usd.parse(decimal('450.09')) },
      validity: 'resting',
      takes: { collateralIndex: 3, amount: usdc(45.009), returned: usdc(50.01) },
      warnings: [],
      changes: { price: '45000' },
    })
  })

  it('is sized by the mark when the mark has passed it', () => {
    assert.equal(updated({ price: '99000' }).takes?.amount, usdc(60.012))
  })

  it('to beyond the market is told, and refused with a stop loss that the contracts move past the price', () => {
    const order = orderOf({ tp: null, sl: decimal('47000') })
    const { field, value, side, reference } = refusalOf(() => updated({ price: '99000' }, order), 'UNSUPPORTED')
    assert.deepEqual([field, value, side, reference], ['sl', '47000', 'long', '60000'])
    refusalOf(() => updated({ price: '99000', sl: '98000' }, order), 'UNSUPPORTED')
    const { warnings, changes } = updated({ price: '99000', sl: '0' }, order)
    assert.deepEqual(changes, { price: '99000', sl: null })
    assert.deepEqual(
      warnings.map(({ code, asked, value: becomes }) => [code, asked, becomes]),
      [['marketable', '99000', '60000']],
    )
  })

  it('is an update where the collateral already there buys the size to half a step', () => {
    // 500.1 USD at P1 = 50010 buy 0.01 BTC. A step is 0.00001 BTC, so half a step is 0.05 % of the size.
    const { calls, kind, takes, action } = updated({ price: '50025' })
    assert.deepEqual([kind, takes, action.spendUsd], ['update', null, 0n])
    assert.deepEqual(calls.map(decoded), [{ name: 'updateOpenOrder', args: [5, usd(50_025), usd(70_000), 0n, 1_000] }])
    assert.equal(updated({ price: '50025.01' }).kind, 'update')
    assert.equal(updated({ price: '50025.02' }).kind, 'replace')
    assert.equal(updated({ price: '49975.02' }).kind, 'update')
    assert.equal(updated({ price: '49975.01' }).kind, 'replace')
  })

  it("is measured against the order's size, so that many small steps never add up", () => {
    let order = orderOf()
    let kind: string = 'update'
    for (let price = 50_020; kind === 'update'; price += 20) {
      assert.ok(price < 50_050, 'the steps add up')
      const plan = updated({ price: String(price) }, order)
      kind = plan.kind
      order = orderOf({ price: decimal(String(price)) })
    }
    assert.equal(kind, 'replace')
  })

  it('always places again when nobody knows what the order holds', () => {
    const { held: _held, ...order } = orderOf()
    const plan = planUpdateOrder({ ...order, held: undefined }, { price: '50000.01' }, contextOf())
    assert.equal(plan.kind, 'replace')
    assert.deepEqual(plan.takes, { collateralIndex: 3, amount: usdc(50.010011) })
  })

  it('to what it is changes nothing, whatever the order holds', () => {
    assert.equal(updated({ price: '50000', size: '0.01' }, orderOf({}, {}, usdc(1))).kind, 'update')
  })

  it('takes the size of an order that was made elsewhere as it is, with all its decimals', () => {
    const order = orderOf({ size: decimal('0.010001234567890123') })
    // 0.010001234567890123 x 45009
    assert.equal(updated({ price: '45000' }, order).takes?.amount, usdc(45.014557))
  })

  it('is taken while the market is closed', () => {
    planUpdateOrder(orderOf(), { price: '40000' }, contextOf({ isOpen: () => false }))
  })
})

describe('a change of size', () => {
  it('cancels and places again, with everything else as it is in force', () => {
    const order = orderOf({ price: decimal('40000'), sl: decimal('37000'), slippage: decimal('2') })
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
      collateralAmount: usdc(80.016),
      openPrice: usd(40_000),
      tp: usd(70_000),
      sl: usd(37_000),
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
      action: { market: 'BTC/USD', leverage: 10_000n, spendUsd: Usd.parse(decimal('800.16')) },
      validity: 'resting',
      takes: { collateralIndex: 3, amount: usdc(80.016), returned: usdc(50.01) },
      warnings: [],
      changes: { size: '0.02' },
    })
  })

  it('takes the other changes along', () => {
    const { calls, changes } = updated({ size: '0.005', price: '60000', tp: '0' })
    const trade = decoded(calls[1]!).args[0] as { collateralAmount: bigint; openPrice: bigint; tp: bigint }
    assert.deepEqual([trade.collateralAmount, trade.openPrice, trade.tp], [usdc(30.006), usd(60_000), 0n])
    assert.deepEqual(changes, { size: '0.005', price: '60000', tp: null })
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
