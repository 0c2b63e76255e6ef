import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, PercentP, Price, TokenSize, type Warning } from '@bezel/protocol'
import fc from 'fast-check'
import { BTC, chainMarkets, usd } from '../../market/testing/fixtures.ts'
import type { PositionState } from '../positions/positionModel.ts'
import { clampStopLoss } from '../valuation/liquidation.ts'
import { LISTING, tokens } from '../valuation/testing/fixtures.ts'
import type { TradingContext } from './plan.ts'
import {
  canCarryStops,
  checkNewStops,
  checkOrderStops,
  invalidStop,
  keptStopLoss,
  requireTakeProfit,
  warningsOfRequest,
  type StopField,
  type StoppedOrder,
} from './stops.ts'
import { contextOf, decimal, positionOf, refusalOf, RESTING, withMarket } from './testing/fixtures.ts'

const ORDER: StoppedOrder = {
  market: BTC,
  collateralIndex: 3,
  side: 'long',
  type: 'limit',
  price: usd(50_000),
  leverage: decimal('10'),
  sl: null,
  tp: null,
  slippage: decimal('1'),
}

const stateOf = (trade: Partial<PositionState['trade']>): PositionState => positionOf(trade).state
const at = (mark: number) => contextOf({ markOf: () => usd(mark) })
/** Longs hold as much more than shorts as the depth is: the market price is 0.5 % above the mark. */
const SKEWED = contextOf({ chain: chainMarkets({ oiLongToken: tokens(100), skewDepth: tokens(100) }) })
/** Fees of 0.2 %: at 180x they leave a stop loss no room. */
const DEAR = { ...BTC, listing: { ...LISTING, feeP: PercentP.of(2_000_000_000n) } }

const brief = (warnings: readonly Warning[]) =>
  warnings.map(({ code, field, asked, value }) => [code, field, asked, value])

describe('the stop loss and take profit of a position', () => {
  it('must be on the side of the price where they wait', () => {
    const context = contextOf()
    keptStopLoss(stateOf({ sl: usd(59_999.99) }), BTC, context)
    keptStopLoss(stateOf({ long: false, sl: usd(60_000.01) }), BTC, context)
    requireTakeProfit(stateOf({ tp: usd(60_000.01) }), BTC, context)
    requireTakeProfit(stateOf({ long: false, tp: usd(59_999.99) }), BTC, context)
    for (const long of [true, false]) {
      const side = long ? 'long' : 'short'
      for (const wrong of long ? [60_000, 60_500] : [60_000, 59_000]) {
        const details = refusalOf(() => keptStopLoss(stateOf({ long, sl: usd(wrong) }), BTC, context), 'UNSUPPORTED')
        assert.deepEqual(details, { field: 'sl', value: String(wrong), side, reference: '60000' })
      }
      for (const wrong of long ? [60_000, 59_000] : [60_000, 61_000]) {
        const details = refusalOf(
          () => requireTakeProfit(stateOf({ long, tp: usd(wrong) }), BTC, context),
          'UNSUPPORTED',
        )
        assert.deepEqual(details, { field: 'tp', value: String(wrong), side, reference: '60000' })
      }
    }
  })

  it('are compared with the price that the contracts compare: shifted by the skew', () => {
    keptStopLoss(stateOf({ sl: usd(60_100) }), BTC, SKEWED)
    const details = refusalOf(() => requireTakeProfit(stateOf({ tp: usd(60_200) }), BTC, SKEWED), 'UNSUPPORTED')
    assert.equal(details['reference'], '60300')
  })

  it('are none when they are 0, wherever the price is', () => {
    assert.deepEqual(keptStopLoss(stateOf({ sl: Price.zero }), DEAR, at(1)), { sl: 0n, warnings: [] })
    requireTakeProfit(stateOf({ tp: Price.zero }), BTC, at(1_000_000))
  })

  it('a stop loss is refused where the contracts keep none', () => {
    const details = refusalOf(
      () => keptStopLoss(stateOf({ leverage: 180_000, sl: usd(59_999) }), DEAR, contextOf()),
      'UNSUPPORTED',
    )
    assert.deepEqual(details, { field: 'sl', value: '59999', side: 'long', reference: '60012' })
  })

  it('a stop loss is refused when its clamped value is on the wrong side', () => {
    const details = refusalOf(() => keptStopLoss(stateOf({ sl: usd(54_000) }), BTC, at(54_900)), 'UNSUPPORTED')
    assert.deepEqual(details, { field: 'sl', value: '54000', side: 'long', reference: '54900' })
  })

  it('is kept or refused, and never one that the price has passed', () => {
    const prices = fc.bigInt({ min: 10n ** 9n, max: 10n ** 15n }).map(Price.of)
    const skews = fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n })
    fc.assert(
      fc.property(fc.boolean(), prices, prices, prices, skews, (long, mark, openPrice, sl, skew) => {
        const pair = {
          oiLongToken: TokenSize.of(skew > 0n ? skew : 0n),
          oiShortToken: TokenSize.of(skew < 0n ? -skew : 0n),
        }
        const chain = chainMarkets({ ...pair, skewDepth: tokens(1_000_000) })
        const state = stateOf({ long, openPrice, sl })
        const kept = clampStopLoss(state.trade, state.liquidationParams, LISTING)
        // Skew / depth / 2, in percent at 1e10.
        const marketPrice = mark + (mark * ((skew * 10n ** 10n) / 10n ** 24n / 2n)) / 10n ** 12n
        const isHonoured = kept !== 0n && (long ? kept < marketPrice : kept > marketPrice)
        const asked = () => keptStopLoss(state, BTC, contextOf({ chain, markOf: () => mark }))
        if (!isHonoured) return void refusalOf(asked, 'UNSUPPORTED')
        const expected = kept === sl ? [] : [['sl_clamped', 'sl', Price.format(sl), Price.format(kept)]]
        const { sl: told, warnings } = asked()
        assert.equal(told, kept)
        assert.deepEqual(brief(warnings), expected)
      }),
    )
  })
})

describe('the stop loss of an order', () => {
  const clamped = { ...ORDER, sl: decimal('40000') }

  it('is measured from the trigger of a resting order', () => {
    const { sl, warnings } = checkOrderStops(clamped, at(60_000))
    assert.equal(sl, '45810')
    assert.deepEqual(brief(warnings), [['sl_clamped', 'sl', '40000', '45810']])
    const short = checkOrderStops({ ...clamped, side: 'short', sl: decimal('60000') }, at(40_000))
    assert.equal(short.sl, '54190')
  })

  it('is estimated at the mark for a market order, and the warning says so', () => {
    const { warnings } = checkOrderStops({ ...clamped, type: 'market', price: usd(90_000) }, at(60_000))
    assert.deepEqual(brief(warnings), [['sl_clamped', 'sl', '40000', '54972']])
    assert.match(warnings[0]!.message, /estimated at the mark/)
  })

  it('stays as it is where it may stand, and none is none', () => {
    assert.deepEqual(checkOrderStops({ ...ORDER, sl: decimal('45810') }, at(60_000)), { sl: '45810', warnings: [] })
    const lastMarkOf = () => assert.fail('nothing is measured')
    assert.deepEqual(checkOrderStops({ ...ORDER, type: 'market' }, contextOf({ lastMarkOf })), {
      sl: null,
      warnings: [],
    })
  })

  it('is refused where the contracts would keep none', () => {
    const terms = { ...ORDER, market: DEAR, leverage: decimal('180'), sl: decimal('49999') }
    const details = refusalOf(() => checkOrderStops(terms, contextOf()), 'UNSUPPORTED')
    assert.deepEqual(details, { field: 'sl', value: '49999', side: 'long', reference: '50000' })
  })

  it('is told again with a repeat, which is never refused', () => {
    const request = { ...RESTING, sl: decimal('40000') }
    assert.deepEqual(brief(warningsOfRequest(request, contextOf())), [['sl_clamped', 'sl', '40000', '45810']])
    assert.deepEqual(warningsOfRequest(RESTING, contextOf()), [])
    const reached = { ...RESTING, price: decimal('70000') }
    assert.deepEqual(brief(warningsOfRequest(reached, contextOf())), [['marketable', 'price', '70000', '60000']])
    assert.deepEqual(warningsOfRequest({ ...request, kind: 'close', reduceOnly: true }, contextOf()), [])
    warningsOfRequest({ ...request, leverage: decimal('180') }, withMarket({ listing: DEAR.listing }))
  })
})

describe('a stop order', () => {
  const stop = { ...ORDER, type: 'stop' } as const

  it('is refused when the price has passed its trigger by more than its slippage', () => {
    checkOrderStops(stop, at(49_000))
    checkOrderStops(stop, at(50_500))
    const details = refusalOf(() => checkOrderStops(stop, at(50_500.01)), 'UNSUPPORTED')
    assert.deepEqual(details, { field: 'price', value: '50000', side: 'long', reference: '50500.01' })
    const short = { ...stop, side: 'short', slippage: decimal('0.5') } as const
    checkOrderStops(short, at(49_750))
    refusalOf(() => checkOrderStops(short, at(49_749.99)), 'UNSUPPORTED')
  })

  it('a limit order is not: it executes at the better price', () => {
    checkOrderStops(ORDER, at(1))
    checkOrderStops({ ...ORDER, side: 'short' }, at(1_000_000))
  })

  it('may get other stops although the price has left it behind', () => {
    assert.equal(checkNewStops({ ...stop, sl: decimal('49000') }, ['sl'], at(60_000)).sl, '49000')
    checkNewStops({ ...stop, tp: decimal('55000') }, ['tp'], at(60_000))
    const lastMarkOf = () => assert.fail('no price is needed to take a stop away')
    checkNewStops(stop, ['sl', 'tp'], contextOf({ lastMarkOf }))
  })
})

describe('an order that the market price has reached', () => {
  const order = (changes: Partial<StoppedOrder>): StoppedOrder => ({ ...ORDER, price: usd(90_000), ...changes })
  /** Shorts hold as much more than longs as the depth is: the market price is 0.5 % below the mark. */
  const FALLEN = contextOf({ chain: chainMarkets({ oiShortToken: tokens(100), skewDepth: tokens(100) }) })

  it('does not rest, and says so', () => {
    const cases = [
      ['limit', 'long', 50_000, 50_000.01],
      ['limit', 'short', 50_000, 49_999.99],
      ['stop', 'long', 50_000, 49_999.99],
      ['stop', 'short', 50_000, 50_000.01],
    ] as const
    for (const [type, side, reached, resting] of cases) {
      const terms = { ...ORDER, type, side }
      const told = brief(checkOrderStops(terms, at(reached)).warnings)
      assert.deepEqual(told, [['marketable', 'price', '50000', '50000']], `${side} ${type}`)
      assert.deepEqual(checkOrderStops(terms, at(resting)).warnings, [], `${side} ${type}`)
    }
    const { message } = checkOrderStops(order({}), at(60_000)).warnings[0]!
    assert.match(message, /^The market price, 60000, has reached the price 90000 of this long limit order: /)
  })

  it('is judged by the price that the contracts compare: shifted by the skew', () => {
    const told = (price: number) => brief(checkOrderStops(order({ price: usd(price) }), SKEWED).warnings)
    assert.deepEqual(told(60_299), [])
    assert.deepEqual(told(60_300), [['marketable', 'price', '60300', '60300']])
  })

  it('is refused with a stop that keeps it from executing, or closes its position at once', () => {
    const cases: readonly (readonly [Partial<StoppedOrder>, TradingContext, StopField, string])[] = [
      // Measured from 90000 and 30000, both stop losses are moved to where the price has passed them.
      [{ sl: decimal('56000') }, at(60_000), 'sl', '60000'],
      [{ side: 'short', price: usd(30_000), sl: decimal('64000') }, at(60_000), 'sl', '60000'],
      [{ type: 'stop', price: usd(59_500), tp: decimal('59800') }, at(60_000), 'tp', '60000'],
      [{ type: 'stop', side: 'short', price: usd(60_500), tp: decimal('60200') }, at(60_000), 'tp', '60000'],
      [{ type: 'market', price: usd(65_000), sl: decimal('62000') }, at(60_000), 'sl', '60000'],
      // The contracts compare the mark when they execute the order, and the market price from then on.
      [{ price: usd(60_400), sl: decimal('60100') }, SKEWED, 'sl', '60000'],
      [{ price: usd(60_400), sl: decimal('59800') }, FALLEN, 'sl', '59700'],
      [{ type: 'stop', price: usd(60_100), tp: decimal('60200') }, SKEWED, 'tp', '60300'],
    ]
    for (const [terms, context, field, reference] of cases) {
      const of = order(terms)
      const { remedy, ...details } = refusalOf(() => checkOrderStops(of, context), 'UNSUPPORTED')
      assert.deepEqual(details, { field, value: of[field], side: of.side, reference })
      assert.equal(remedy, `Choose another ${field} or price, or "0" for no ${field}.`)
      assert.equal(canCarryStops(of, context), false)
    }
  })

  it('may have a stop that the price has not passed, and the contracts judge it by the price of the order', () => {
    for (const terms of [
      { price: usd(61_000), sl: decimal('57000') },
      { type: 'stop', price: usd(59_500), tp: decimal('60001') },
      { type: 'market', price: usd(65_000), sl: decimal('59999'), tp: decimal('66000') },
    ] as const) {
      checkOrderStops(order(terms), at(60_000))
      assert.ok(canCarryStops(order(terms), at(60_000)))
    }
    const wrong = order({ sl: decimal('95000') })
    assert.equal(checkOrderStops(wrong, at(60_000)).sl, '95000')
    assert.deepEqual([invalidStop(wrong), canCarryStops(wrong, at(60_000))], ['TradeSlInvalid', false])
    assert.equal(invalidStop(order({ sl: decimal('95000'), tp: decimal('80000') })), 'TradeTpInvalid')
    assert.equal(invalidStop(order({ side: 'short', sl: decimal('95000'), tp: decimal('80000') })), undefined)
  })

  it('may have a take profit that only the mark has passed, with which the contracts compare none', () => {
    for (const [terms, context] of [
      [{ price: usd(59_750), tp: decimal('59900') }, FALLEN],
      [{ side: 'short', price: usd(60_250), tp: decimal('60100') }, SKEWED],
    ] as const) {
      assert.equal(checkOrderStops(order(terms), context).warnings[0]?.code, 'marketable')
      assert.ok(canCarryStops(order(terms), context))
    }
  })

  it('is not known to have been while no price can be had', () => {
    const notReady = () => {
      throw new ApiError('NOT_READY', 'There is no price.')
    }
    const unpriced = contextOf({ lastMarkOf: notReady })
    const stopped = order({ sl: decimal('56000'), tp: decimal('95000') })
    assert.equal(checkNewStops(stopped, ['sl', 'tp'], unpriced).sl, '82458')
    assert.deepEqual(checkOrderStops(order({}), unpriced).warnings, [])
    const request = { ...RESTING, price: decimal('70000'), tp: null }
    assert.deepEqual(warningsOfRequest(request, unpriced), [])
    const [clamped] = warningsOfRequest({ ...request, sl: decimal('40000') }, unpriced)
    assert.equal(clamped?.code, 'sl_clamped')
    const broken = contextOf({ lastMarkOf: () => assert.fail('another failure stays one') })
    assert.throws(() => warningsOfRequest(request, broken), assert.AssertionError)
    assert.throws(() => checkNewStops(stopped, ['sl'], broken), assert.AssertionError)
  })

  it('of which only one stop changes is judged by that one', () => {
    const of = order({ sl: decimal('56000'), tp: decimal('95000') })
    assert.deepEqual(brief(checkNewStops(of, ['tp'], at(60_000)).warnings), [['sl_clamped', 'sl', '56000', '82458']])
    refusalOf(() => checkNewStops(of, ['sl'], at(60_000)), 'UNSUPPORTED')
  })
})
