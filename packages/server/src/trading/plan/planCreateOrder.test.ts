import type { LivePosition } from '../positions/positionModel.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CollateralAmount,
  formatDecimal,
  Leverage,
  scaleDecimal,
  type CreateOrderRequest,
  type Decimal,
} from '@bezel/protocol'
import fc from 'fast-check'
import { zeroAddress } from 'viem'
import { usd } from '../../market/testing/fixtures.ts'
import { usdc } from '../valuation/testing/fixtures.ts'
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
  collateralAmount: usdc(60),
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
      action: { market: 'BTC/USD', leverage: 10_000n, spendUsd: 600n * 10n ** 18n },
      validity: 'market',
      takes: { collateralIndex: 3, amount: usdc(60) },
    })
  })

  it('expects its own price when it names one, and is sized by it', () => {
    const { calls, request, action } = planOf({
      price: '59000.5',
      side: 'short',
      sl: '61000',
      tp: '50000',
      slippage: '0.5',
    })
    const trade = { ...TRADE_OF_BODY, long: false, openPrice: usd(59_000.5), sl: usd(61_000), tp: usd(50_000) }
    const [only] = calls.map(decoded)
    assert.deepEqual(only?.args, [{ ...trade, collateralAmount: usdc(59.0005) }, 500, zeroAddress])
    assert.equal(request.price, '59000.5')
    assert.equal(action.spendUsd, scaleDecimal('590.005' as Decimal, 18))
  })

  it('brings collateral at the price of its token, rounded down to its decimals', () => {
    const [call] = planOf({ collateral: 'WETH', leverage: '7' }).calls.map(decoded)
    const { collateralAmount } = call!.args[0] as typeof TRADE_OF_BODY
    // 600 USD / 7 / 2500
    assert.equal(collateralAmount, 34_285_714_285_714_285n)
  })

  it('is refused while its market is closed, before its price is asked for', () => {
    const markOf = () => assert.fail('asked')
    const details = refusalOf(() => planOf({}, contextOf({ isOpen: () => false, markOf })), 'MARKET_CLOSED')
    assert.deepEqual(details, { market: 'BTC/USD' })
  })
})

describe('a resting order', () => {
  for (const [type, tradeType] of [
    ['limit', 1],
    ['stop', 2],
  ] as const) {
    it(`is a trade of type ${tradeType} when it is a ${type}, also while the market is closed`, () => {
      const markOf = () => assert.fail('a trigger needs no mark')
      const { calls, validity } = planOf({ type, price: '50000' }, contextOf({ isOpen: () => false, markOf }))
      const trade = { ...TRADE_OF_BODY, tradeType, openPrice: usd(50_000), collateralAmount: usdc(50) }
      assert.deepEqual(calls.map(decoded), [{ name: 'openTrade', args: [trade, 1_000, zeroAddress] }])
      assert.equal(validity, 'resting')
    })
  }
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
    // A collateral of 3.75 USD at 10x is a notional of 37.5 USD.
    const context = contextOf({ markOf: () => usd(3_750) })
    planOf({}, context)
    assert.deepEqual(
      refusalOf(() => planOf({ size: '0.00999' }, context), 'SIZE_BELOW_MINIMUM'),
      {
        notionalUsd: '37.4625',
        minPositionUsd: '4.125',
        collateralUsd: '3.74625',
        minCollateralUsd: '3.75',
      },
    )
  })

  it('below the smallest position', () => {
    const context = withMarket({ minLeverage: Leverage.of(100_000n), maxLeverage: Leverage.of(200_000n) })
    const details = refusalOf(() => planOf({ leverage: '100', size: '0.00624' }, context), 'SIZE_BELOW_MINIMUM')
    assert.equal(details['minPositionUsd'], '375')
    assert.equal(details['notionalUsd'], '374.4')
    planOf({ leverage: '100', size: '0.00625' }, context)
  })

  it('beyond the integers of the contracts', () => {
    assert.deepEqual(
      issuePaths(() => planOf({ size: `1${'0'.repeat(35)}` })),
      ['body.size'],
    )
  })
})

describe('the collateral of a trade', () => {
  it('is never more than what was said, and less by under one unit', () => {
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
          // size x price / leverage / priceUsd as a fraction of 10^-decimals: scales 1e5 x 1e2 / 1e3.
          const over = sizeUnits * priceUnits * 10n ** BigInt(decimals)
          const under = leverageUnits * priceUsd * 10n ** 4n
          fc.pre(over / under >= (10n ** BigInt(decimals) * 4n) / priceUsd)
          const { takes, calls, action } = planOf({ type: 'limit', size, price, leverage, collateral })
          const amount = takes!.amount
          assert.ok(amount * under <= over)
          assert.ok((amount + 1n) * under > over)
          assert.equal(action.spendUsd, sizeUnits * priceUnits * 10n ** 11n)
          const [trade, slippageP] = decoded(calls[0]!).args as [typeof TRADE_OF_BODY, number]
          assert.deepEqual(
            [trade.collateralAmount, trade.openPrice, BigInt(trade.leverage), slippageP],
            [amount, priceUnits * 10n ** 8n, leverageUnits, 1_000],
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
    const { calls, request, ...rest } = reduce('0.02', [short(3, '11'), short(1, '12'), short(2, '13')])
    // 0.02 - 0.016663333999866693 of 0.016663333999866693 x 100 USDC
    const part = { name: 'decreasePositionSize', args: [1, 20_024_000n, 0, MARK] }
    assert.deepEqual(calls.map(decoded), [close(3), part])
    assert.deepEqual(request.legs, [
      { positionId: '11', tradeIndex: 3, size: whole },
      { positionId: '12', tradeIndex: 1, size: '0.003336666000133307' },
    ])
    assert.equal(request.size, '0.02')
    assert.deepEqual(rest, {
      kind: 'open',
      action: { market: 'BTC/USD', leverage: null, spendUsd: 0n },
      validity: 'market',
      takes: null,
    })
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
