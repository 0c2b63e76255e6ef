import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PercentP, Price, TokenSize, type Warning } from '@bezel/protocol'
import fc from 'fast-check'
import { BTC, chainMarkets, usd } from '../../market/testing/fixtures.ts'
import type { PositionState } from '../positions/positionModel.ts'
import { clampStopLoss } from '../valuation/liquidation.ts'
import { LISTING, tokens } from '../valuation/testing/fixtures.ts'
import {
  checkOrderStops,
  checkStopLoss,
  keptStopLoss,
  requireTakeProfit,
  warningsOfRequest,
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
    const { sl, warnings } = checkOrderStops(clamped, at(1))
    assert.equal(sl, '45810')
    assert.deepEqual(brief(warnings), [['sl_clamped', 'sl', '40000', '45810']])
    const short = checkOrderStops({ ...clamped, side: 'short', sl: decimal('60000') }, at(1))
    assert.equal(short.sl, '54190')
  })

  it('is estimated at the mark for a market order, and the warning says so', () => {
    const { warnings } = checkOrderStops({ ...clamped, type: 'market', price: usd(90_000) }, at(60_000))
    assert.deepEqual(brief(warnings), [['sl_clamped', 'sl', '40000', '54972']])
    assert.match(warnings[0]!.message, /estimated at the mark/)
  })

  it('stays as it is where it may stand, and none is none', () => {
    assert.deepEqual(checkOrderStops({ ...ORDER, sl: decimal('45810') }, at(1)), { sl: '45810', warnings: [] })
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

  it('may get another stop loss although the price has left it behind', () => {
    assert.equal(checkStopLoss({ ...stop, sl: decimal('49000') }, at(60_000)).sl, '49000')
  })
})
