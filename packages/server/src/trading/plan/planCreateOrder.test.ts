import type { LivePosition } from '../positions/positionModel.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CollateralAmount,
  formatDecimal,
  Leverage,
  Price,
  scaleDecimal,
  Usd,
  type CreateOrderRequest,
  type Decimal,
} from '@bezel/protocol'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { chainMarkets, usd } from '../../market/testing/fixtures.ts'
import { ORDINARY_TERMS } from '../valuation/chainState.ts'
import { LISTING, usdc } from '../valuation/testing/fixtures.ts'
import { normalizeOrder } from './normalizeOrder.ts'
import { planCreateOrder } from './planCreateOrder.ts'
import type { TradingContext } from './plan.ts'
import {
  BODY,
  contextOf,
  decoded,
  issuePaths,
  MARK,
  positionOf,
  refusalOf,
  slipping,
  TRADER,
  withMarket,
} from './testing/fixtures.ts'

function planOf(
  body: Partial<CreateOrderRequest>,
  context: TradingContext = contextOf(),
  positions: readonly LivePosition[] = [],
) {
  const { collateral } = body
  return planCreateOrder(normalizeOrder({ ...BODY, ...body }, context), context, {
    trader: TRADER,
    positions,
    collateral,
  })
}

const TRADE_OF_BODY = {
  user: TRADER,
  index: 0,
  pairIndex: 0,
  leverage: 10_000,
  long: true,
  isOpen: true,
  collateralIndex: 3,
  tradeType: 0,
  // 0.01 BTC at 60,000 and half of a spread of 0.04 %: 600.12 USD at leverage 10.
  collateralAmount: usdc(60.012),
  openPrice: MARK,
  tp: 0n,
  sl: 0n,
  isCounterTrade: false,
  positionSizeToken: 0n,
  __placeholder: 0,
}

describe('a market order', () => {
  it('opens a trade at the mark', () => {
    const { calls, request, ...rest } = planOf({})
    assert.deepEqual(calls.map(decoded), [{ name: 'openTrade', args: [TRADE_OF_BODY, 1_000, zeroAddress] }])
    assert.equal(request.price, null)
    assert.deepEqual(rest, {
      kind: 'open',
      action: { market: 'BTC/USD', leverage: 10_000n, spendUsd: scaleDecimal('600.12' as Decimal, 18) },
      validity: 'market',
      takes: { collateralIndex: 3, amount: usdc(60.012) },
      warnings: [],
    })
  })

  it('expects its own price when it names one, and buys no more and no less for it', () => {
    for (const price of ['59000.5', '114000', '6000']) {
      const { calls, request, action } = planOf({
        price,
        side: 'short',
        sl: '61000',
        tp: '50000',
        slippage: '0.5',
      })
      const trade = { ...TRADE_OF_BODY, long: false, openPrice: usd(Number(price)), sl: usd(61_000), tp: usd(50_000) }
      const [only] = calls.map(decoded)
      assert.deepEqual(only?.args, [{ ...trade, collateralAmount: usdc(59.988) }, 500, zeroAddress])
      assert.equal(request.price, price)
      assert.equal(action.spendUsd, scaleDecimal('599.88' as Decimal, 18))
    }
  })

  it('brings collateral at the price of its token, rounded up to its decimals', () => {
    const [call] = planOf({ collateral: 'WETH', leverage: '7' }).calls.map(decoded)
    const { collateralAmount } = call!.args[0] as typeof TRADE_OF_BODY
    // 600.12 USD / 7 / 2500
    assert.equal(collateralAmount, 34_292_571_428_571_429n)
  })

  it("is sized on the trader's own terms", () => {
    const termsOf = (trader: string) => ({ ...ORDINARY_TERMS, fixedSpreadP: trader === TRADER ? 100 : 0 })
    assert.equal(planOf({}, contextOf({ termsOf })).takes?.amount, usdc(60.042))
  })

  it('is sized by the volume of the windows that are open now, not of those at the last read', () => {
    const chain = chainMarkets()
    const settings = { startTs: 0, windowsDuration: 60, windowsCount: 4 }
    const windows = new Map([[13, { oiLongUsd: Usd.of(500_000n * Usd.one), oiShortUsd: Usd.zero }]])
    const depthAbove = { totalDepthUsd: 1_000_000n, sharesBps: [10_000n], offsetsPpm: [10_000n] }
    const of = withMarket(
      { listing: { ...LISTING, depthAbove } },
      contextOf({ chain: { ...chain, volumes: new Map([[0, { settings, windows }]]) } }),
    )
    const at = (timestampS: number) => planOf({}, { ...of, moment: { timestampS, blockNumber: 101 } }).takes!.amount
    // A depth of one band to 1 %: 500,000 USD before cost 0.25 % on average.
    assert.ok(at(1_019) > usdc(60.15))
    assert.ok(at(1_020) < usdc(60.013))
  })

  it('is refused while its market is closed, before its price is asked for', () => {
    const markOf = () => assert.fail('asked')
    const details = refusalOf(() => planOf({}, contextOf({ isOpen: () => false, markOf })), 'MARKET_CLOSED')
    assert.deepEqual(details, { market: 'BTC/USD', opensAt: null })
  })
})

describe('a resting order', () => {
  for (const [type, tradeType] of [
    ['limit', 1],
    ['stop', 2],
  ] as const) {
    it(`is a trade of type ${tradeType} when it is a ${type}, also while the market is closed`, () => {
      const side = type === 'limit' ? 'long' : 'short'
      const { calls, validity } = planOf({ type, side, price: '50000' }, contextOf({ isOpen: () => false }))
      const amount = side === 'long' ? usdc(50.01) : usdc(49.99)
      const trade = {
        ...TRADE_OF_BODY,
        tradeType,
        long: side === 'long',
        openPrice: usd(50_000),
        collateralAmount: amount,
      }
      assert.deepEqual(calls.map(decoded), [{ name: 'openTrade', args: [trade, 1_000, zeroAddress] }])
      assert.equal(validity, 'resting')
    })
  }

  it('that the mark has passed is sized by the mark, and keeps its trigger', () => {
    const limit = planOf({ type: 'limit', price: '66000' })
    assert.equal(limit.takes?.amount, usdc(60.012))
    assert.equal((decoded(limit.calls[0]!).args[0] as typeof TRADE_OF_BODY).openPrice, usd(66_000))
    assert.equal(planOf({ type: 'limit', side: 'short', price: '54000' }).takes?.amount, usdc(59.988))
    assert.equal(planOf({ type: 'stop', price: '59900' }).takes?.amount, usdc(60.012))
    assert.equal(planOf({ type: 'stop', side: 'short', price: '60100' }).takes?.amount, usdc(59.988))
  })
})

describe('a new trade is refused', () => {
  it('in a collateral that is no longer active', () => {
    const { collateral } = refusalOf(() => planOf({ collateral: 'OLD' }), 'COLLATERAL_NOT_SUPPORTED')
    assert.equal(collateral, 'OLD')
  })

  it('outside the leverage of its market', () => {
    planOf({ leverage: '1.1' })
    planOf({ leverage: '150', size: '0.1' })
    assert.deepEqual(
      refusalOf(() => planOf({ leverage: '1.099' }), 'LEVERAGE_OUT_OF_RANGE'),
      {
        leverage: '1.099',
        minLeverage: '1.1',
        maxLeverage: '200',
      },
    )
    refusalOf(() => planOf({ leverage: '200.001' }), 'LEVERAGE_OUT_OF_RANGE')
  })

  it('below the smallest collateral', () => {
    // A collateral of 3.75 USD at 10x is a notional of 37.5 USD, with half of the spread in it.
    const context = contextOf({ markOf: () => usd(3_750) })
    planOf({}, context)
    assert.deepEqual(
      refusalOf(() => planOf({ size: '0.00999' }, context), 'SIZE_BELOW_MINIMUM'),
      {
        notionalUsd: '37.4699925',
        minPositionUsd: '4.125',
        collateralUsd: '3.747',
        minCollateralUsd: '3.75',
      },
    )
    refusalOf(() => planOf({ side: 'short' }, context), 'SIZE_BELOW_MINIMUM')
  })

  it('below the smallest position', () => {
    const context = withMarket({ minLeverage: Leverage.of(100_000n), maxLeverage: Leverage.of(200_000n) })
    const details = refusalOf(() => planOf({ leverage: '100', size: '0.00624' }, context), 'SIZE_BELOW_MINIMUM')
    assert.equal(details['minPositionUsd'], '375')
    assert.equal(details['notionalUsd'], '374.47488')
    planOf({ leverage: '100', size: '0.00625' }, context)
  })

  it('beyond the integers of the contracts', () => {
    assert.deepEqual(
      issuePaths(() => planOf({ size: `1${'0'.repeat(35)}` })),
      ['body.size'],
    )
    const depthBelow = { totalDepthUsd: 1n, sharesBps: [10_000n], offsetsPpm: [10_000n] }
    const shallow = withMarket({ listing: { ...LISTING, depthBelow } })
    assert.deepEqual(
      issuePaths(() => planOf({ side: 'short', size: '10' }, shallow)),
      ['body.size'],
    )
  })
})

describe('the collateral of a trade', () => {
  it('is never less than what its size costs, and more by under one unit', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 100n, max: 10n ** 12n }),
        fc.bigInt({ min: 10_000n, max: 10n ** 9n }),
        fc.bigInt({ min: 1_100n, max: 100_000n }),
        fc.constantFrom(['USDC', 6, 1n] as const, ['WETH', 18, 2_500n] as const),
        (sizeUnits, priceUnits, leverageUnits, [collateral, decimals, priceUsd]) => {
          const [size, price, leverage] = [
            formatDecimal(sizeUnits, 5),
            formatDecimal(priceUnits, 2),
            formatDecimal(leverageUnits, 3),
          ]
          const trigger = Price.of(priceUnits * 10n ** 8n)
          const spread = trigger + trigger / 5_000n
          // size x price / leverage / priceUsd as a fraction of 10^-decimals: scales 1e5 x 1e10 / 1e3.
          const over = sizeUnits * spread * 10n ** BigInt(decimals)
          const under = leverageUnits * priceUsd * 10n ** 12n
          fc.pre(over / under >= (10n ** BigInt(decimals) * 4n) / priceUsd)
          const context = contextOf({ markOf: () => trigger })
          const { takes, calls, action } = planOf({ type: 'limit', size, price, leverage, collateral }, context)
          const amount = takes!.amount
          assert.ok(amount * under >= over)
          assert.ok((amount - 1n) * under < over)
          assert.equal(action.spendUsd, sizeUnits * spread * 10n ** 3n)
          const [trade, slippageP] = decoded(calls[0]!).args as [typeof TRADE_OF_BODY, number]
          assert.deepEqual(
            [trade.collateralAmount, trade.openPrice, BigInt(trade.leverage), slippageP],
            [amount, trigger, leverageUnits, 1_000],
          )
        },
      ),
    )
  })
})

describe('a reduce-only order', () => {
  const short = (index: number, id: string) => positionOf({ index, long: false }, id)
  const whole = '0.016663333999866693'
  const close = (index: number) => ({ name: 'closeTradeMarket', args: [index, MARK] })
  const reduce = (size: string, positions: readonly LivePosition[], body: Partial<CreateOrderRequest> = {}) =>
    planOf({ reduceOnly: true, size, ...body }, contextOf(), positions)

  it('closes the oldest first, and of the last only a part', () => {
    const { calls, request, touches, closes, ...rest } = reduce('0.02', [
      short(3, '11'),
      short(1, '12'),
      short(2, '13'),
    ])
    // 0.02 - 0.016663333999866693 of 0.016663333999866693 x 100 USDC
    const part = { name: 'decreasePositionSize', args: [1, 20_024_000n, 0, MARK] }
    assert.deepEqual(calls.map(decoded), [close(3), part])
    assert.deepEqual(request.legs, [
      { positionId: '11', tradeIndex: 3, size: whole },
      { positionId: '12', tradeIndex: 1, size: '0.003336666000133307' },
    ])
    assert.deepEqual(
      closes!.map((closing) => closing.part),
      [null, 20_024_000n],
    )
    assert.equal(request.size, '0.02')
    assert.deepEqual(rest, {
      kind: 'open',
      action: { market: 'BTC/USD', leverage: null, spendUsd: 0n },
      validity: 'market',
      takes: null,
      warnings: [],
    })
    assert.deepEqual(
      touches?.map(({ record }) => record.id),
      ['11', '12'],
    )
  })

  it('has the leverage and collateral of the first position', () => {
    const positions = [positionOf({ long: false, leverage: 25_500, collateralIndex: 4 }), short(1, '12')]
    const { request } = reduce('0.02', positions, { leverage: '999' })
    assert.deepEqual([request.leverage, request.collateral, request.collateralIndex], ['25.5', 'OLD', 4])
  })

  it('closes positions in one collateral alone: the one it names, else that of the oldest', () => {
    const inWeth = (index: number, id: string) =>
      positionOf({ index, long: false, collateralIndex: 2, collateralAmount: CollateralAmount.of(5n * 10n ** 17n) }, id)
    const positions = [short(3, '11'), inWeth(1, '12'), short(2, '13'), inWeth(5, '14')]
    const reduced = (body: Partial<CreateOrderRequest>, of = positions) => {
      const { request } = reduce('5', of, body)
      return [request.collateral, request.collateralIndex, ...request.legs.map(({ positionId }) => positionId)]
    }
    assert.deepEqual(reduced({}), ['USDC', 3, '11', '13'])
    assert.deepEqual(reduced({ collateral: 'USDC' }), ['USDC', 3, '11', '13'])
    assert.deepEqual(reduced({ collateral: 'WETH' }), ['WETH', 2, '12', '14'])
    assert.deepEqual(reduced({}, positions.slice(1)), ['WETH', 2, '12', '14'])
    const details = refusalOf(() => reduced({ collateral: 'OLD' }), 'POSITION_NOT_FOUND')
    assert.deepEqual(details, { market: 'BTC/USD', side: 'long', collateral: 'OLD' })
  })

  it('larger than all of them is all of them', () => {
    const { request } = reduce('5', [short(3, '11'), short(1, '12')])
    assert.deepEqual(
      request.legs.map(({ size }) => size),
      [whole, whole],
    )
    assert.equal(request.size, '5')
  })

  it('takes nothing of the next position for what the first had beyond the decimals of the market', () => {
    assert.equal(reduce('0.01667', [short(3, '11'), short(1, '12')]).request.legs.length, 1)
    assert.equal(reduce('0.01666', [short(3, '11'), short(1, '12')]).request.legs[0]?.size, whole)
  })

  it('leaves positions of its own side and of other markets alone', () => {
    const others = [positionOf({ long: true }), positionOf({ long: false, pairIndex: 21 })]
    const details = refusalOf(() => reduce('0.01', others), 'POSITION_NOT_FOUND')
    assert.deepEqual(details, { market: 'BTC/USD', side: 'long' })
    assert.deepEqual(
      reduce('0.01', [...others, short(8, '12')]).request.legs.map(({ tradeIndex }) => tradeIndex),
      [8],
    )
  })

  it('sets its slippage on the positions that have another', () => {
    const positions = [slipping(short(3, '11'), 20_000), short(1, '12'), slipping(short(2, '13'), 1_000)]
    const set = (index: number, slippageP: number) => ({
      name: 'updateMaxClosingSlippageP',
      args: [index, slippageP],
    })
    assert.deepEqual(reduce('5', positions).calls.map(decoded), [set(3, 1_000), close(3), close(1), close(2)])
    assert.deepEqual(reduce('5', positions, { slippage: '20' }).calls.map(decoded), [
      close(3),
      set(1, 20_000),
      close(1),
      set(2, 20_000),
      close(2),
    ])
  })

  it('expects its own price when it names one, and sets its slippage', () => {
    const { calls } = reduce('5', [short(3, '11')], { price: '61000', slippage: '2.5' })
    assert.deepEqual(calls.map(decoded), [
      { name: 'updateMaxClosingSlippageP', args: [3, 2_500] },
      { name: 'closeTradeMarket', args: [3, usd(61_000)] },
    ])
  })

  it('holds as many positions as one transaction has calls', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => short(i, String(i + 1)))
    assert.equal(reduce('5', many(10), { slippage: '2' }).calls.length, 20)
    assert.equal(reduce('5', many(20)).calls.length, 20)
    const wide = (count: number) => many(count).map((position) => slipping(position, 2_000))
    assert.equal(reduce('5', wide(20), { slippage: '2' }).calls.length, 20)
    assert.equal(reduce('5', wide(10)).calls.length, 20)
    refusalOf(() => reduce('5', wide(11)), 'UNSUPPORTED')
    assert.deepEqual(
      refusalOf(() => reduce('5', many(11), { slippage: '2' }), 'UNSUPPORTED'),
      { calls: 22, maxCalls: 20 },
    )
    refusalOf(() => reduce('5', many(21)), 'UNSUPPORTED')
  })

  it('is refused while its market is closed', () => {
    const context = contextOf({ isOpen: () => false })
    refusalOf(() => planOf({ reduceOnly: true }, context, [short(1, '12')]), 'MARKET_CLOSED')
  })
})
