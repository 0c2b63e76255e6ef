import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ApiError,
  CollateralAmount,
  formatDecimal,
  Leverage,
  PercentP,
  type UpdatePositionRequest,
} from '@bezel/protocol'
import fc from 'fast-check'
import { usd } from '../../market/testing/fixtures.ts'
import { LISTING, usdc } from '../valuation/testing/fixtures.ts'
import { planUpdatePosition } from './planUpdatePosition.ts'
import { contextOf, decoded, issuePaths, positionOf, refusalOf, withMarket } from './testing/fixtures.ts'

const CLOSED = contextOf({ isOpen: () => false })
const updated = (body: UpdatePositionRequest, position = positionOf(), context = contextOf()) =>
  planUpdatePosition(position, body, context)

describe('sl and tp of a position', () => {
  it('are one call each, at any hour', () => {
    const { calls, ...rest } = updated({ sl: '55000.5', tp: '70000' }, positionOf(), CLOSED)
    assert.deepEqual(calls.map(decoded), [
      { name: 'updateSl', args: [4, usd(55_000.5)] },
      { name: 'updateTp', args: [4, usd(70_000)] },
    ])
    const action = { market: 'BTC/USD', leverage: null, spendUsd: 0n }
    const changes = { sl: usd(55_000.5), tp: usd(70_000) }
    assert.deepEqual(rest, { kind: 'update', action, validity: 'resting', takes: null, warnings: [], changes })
  })

  it('are cleared with 0', () => {
    assert.deepEqual(updated({ sl: '0' }).calls.map(decoded), [{ name: 'updateSl', args: [4, 0n] }])
    assert.deepEqual(updated({ tp: '0' }).calls.map(decoded), [{ name: 'updateTp', args: [4, 0n] }])
    assert.deepEqual(updated({ sl: '0.0', tp: '0' }).changes, { sl: 0n, tp: 0n })
  })

  it('say what the chain keeps of a stop loss that is too far away, and ask it for what was asked', () => {
    const { calls, changes, warnings } = updated({ sl: '40000' })
    assert.deepEqual(calls.map(decoded), [{ name: 'updateSl', args: [4, usd(40_000)] }])
    assert.deepEqual(changes, { sl: usd(54_982.9944) })
    const [warning, ...others] = warnings
    assert.deepEqual(others, [])
    assert.deepEqual([warning?.code, warning?.field], ['sl_clamped', 'sl'])
    assert.deepEqual([warning?.asked, warning?.value], ['40000', '54982.9944'])
    assert.match(warning?.message ?? '', /54982\.9944/)
  })

  it('are refused on the wrong side of the price, where the chain would take and never honour them', () => {
    const side = 'long'
    assert.deepEqual(
      refusalOf(() => updated({ sl: '99999' }), 'UNSUPPORTED'),
      { field: 'sl', value: '99999', side, reference: '60000' },
    )
    assert.deepEqual(
      refusalOf(() => updated({ tp: '59999.99', sl: '0' }), 'UNSUPPORTED'),
      { field: 'tp', value: '59999.99', side, reference: '60000' },
    )
  })

  it('that were read can be sent back, whatever their decimals, and no others', () => {
    const position = positionOf({ sl: usd(54_982.9944), tp: usd(70_000.1234) })
    const { calls, warnings } = updated({ sl: '54982.9944', tp: '70000.12340' }, position)
    assert.deepEqual(
      calls.map((call) => decoded(call).args[1]),
      [usd(54_982.9944), usd(70_000.1234)],
    )
    assert.deepEqual(warnings, [])
    refusalOf(() => updated({ sl: '54982.9945' }, position), 'PRECISION_ERROR')
    refusalOf(() => updated({ tp: '54982.9944' }, position), 'PRECISION_ERROR')
    refusalOf(() => updated({ sl: '54982.99440000001' }, position), 'PRECISION_ERROR')
  })

  it('have the decimals of a price', () => {
    const details = refusalOf(() => updated({ tp: '70000.123' }), 'PRECISION_ERROR')
    assert.deepEqual(details, { field: 'tp', value: '70000.123', maxDecimals: 2 })
    assert.deepEqual(
      issuePaths(() => updated({ sl: '-1', tp: '-1' })),
      ['body.sl', 'body.tp'],
    )
  })
})

describe('the leverage of a position', () => {
  it('goes up for nothing, and is what the scope is asked about', () => {
    const { calls, leverage, ...rest } = updated({ leverage: '12.5' })
    assert.deepEqual(calls.map(decoded), [{ name: 'updateLeverage', args: [4, 12_500] }])
    const action = { market: 'BTC/USD', leverage: 12_500n, spendUsd: 0n }
    assert.deepEqual(rest, { kind: 'update', action, validity: 'resting', takes: null, warnings: [], changes: {} })
    assert.equal(leverage, 12_500n)
  })

  it('says where it moves the stop loss to, and is refused when it would take it away or fire it', () => {
    const position = positionOf({ sl: usd(55_000) })
    const [warning] = updated({ leverage: '20' }, position).warnings
    assert.deepEqual([warning?.code, warning?.asked, warning?.value], ['sl_clamped', '55000', '57533.5044'])
    assert.deepEqual(updated({ leverage: '5' }, position).warnings, [])
    const below = contextOf({ markOf: () => usd(57_500) })
    assert.deepEqual(
      refusalOf(() => updated({ leverage: '20' }, position, below), 'UNSUPPORTED'),
      { field: 'sl', value: '55000', side: 'long', reference: '57500' },
    )
    const dear = withMarket({ listing: { ...LISTING, feeP: PercentP.of(2_000_000_000n) } })
    const details = refusalOf(() => updated({ leverage: '180' }, position, dear), 'UNSUPPORTED')
    assert.deepEqual(details, { field: 'sl', value: '55000', side: 'long', reference: '60012' })
  })

  it('goes down whatever the price makes of the stop loss, which it leaves alone', () => {
    const passed = contextOf({ markOf: () => usd(50_000) })
    assert.deepEqual(updated({ leverage: '8' }, positionOf({ sl: usd(58_000) }), passed).warnings, [])
  })

  it('comes down for more collateral', () => {
    assert.deepEqual(updated({ leverage: '8' }).takes, { collateralIndex: 3, amount: usdc(25) })
    assert.equal(updated({ leverage: '8' }).action.leverage, 8_000n)
  })

  it('may leave the minimum of its market, down to 0.1', () => {
    assert.deepEqual(updated({ leverage: '0.1' }).takes, { collateralIndex: 3, amount: usdc(9_900) })
    assert.deepEqual(
      refusalOf(() => updated({ leverage: '0.099' }), 'LEVERAGE_OUT_OF_RANGE'),
      {
        leverage: '0.099',
        minLeverage: '0.1',
        maxLeverage: '200',
      },
    )
  })

  it('does not rise above the maximum of its market, and may come down from above it', () => {
    updated({ leverage: '200' })
    refusalOf(() => updated({ leverage: '200.001' }), 'LEVERAGE_OUT_OF_RANGE')
    const stricter = withMarket({ maxLeverage: Leverage.of(5_000n) })
    updated({ leverage: '9' }, positionOf(), stricter)
    const details = refusalOf(() => updated({ leverage: '11' }, positionOf(), stricter), 'LEVERAGE_OUT_OF_RANGE')
    assert.equal(details['maxLeverage'], '5')
  })

  it('must be another one, with three decimals, while the market is open', () => {
    assert.deepEqual(
      issuePaths(() => updated({ leverage: '10.0' })),
      ['body.leverage'],
    )
    assert.deepEqual(
      issuePaths(() => updated({ leverage: '0' })),
      ['body.leverage'],
    )
    refusalOf(() => updated({ leverage: '9.0001' }), 'PRECISION_ERROR')
    refusalOf(() => updated({ leverage: '9' }, positionOf(), CLOSED), 'MARKET_CLOSED')
  })
})

describe('the collateral of a position', () => {
  const change = (action: 'add' | 'remove', amount: string) => ({ collateral: { action, amount } })
  const LARGE = positionOf({ collateralAmount: usdc(100_000), leverage: 1_100 })
  const UNLIMITED = withMarket({ maxLeverage: Leverage.of(16_000_000n) })

  it('grows by a lower leverage', () => {
    const { calls, takes, action } = updated(change('add', '25'))
    assert.deepEqual(calls.map(decoded), [{ name: 'updateLeverage', args: [4, 8_000] }])
    assert.deepEqual(takes, { collateralIndex: 3, amount: usdc(25) })
    assert.equal(action.leverage, null, 'no scope forbids more collateral')
  })

  it('shrinks by a higher leverage, which the scope is asked about', () => {
    const { calls, takes, action } = updated(change('remove', '20'))
    assert.deepEqual(calls.map(decoded), [{ name: 'updateLeverage', args: [4, 12_500] }])
    assert.equal(takes, null)
    assert.equal(action.leverage, 12_500n)
  })

  it('moves by the step of 0.001 of leverage nearest below the amount', () => {
    const { calls, takes, warnings } = updated(change('add', '1'))
    assert.deepEqual(decoded(calls[0]!).args, [4, 9_901])
    assert.equal(takes?.amount, 999_899n)
    assert.deepEqual(warnings, [], 'they differ by less than 1 %')
  })

  it('says when the step is more than 1 % below the amount', () => {
    const { takes, warnings } = updated(change('add', '91.5'), LARGE)
    assert.equal(takes?.amount, 90_991_810n)
    assert.deepEqual(warnings, [])
    const [warning] = updated(change('add', '100'), LARGE).warnings
    const told = { code: 'collateral_rounded', field: 'collateral.amount', asked: '100', value: '90.99181' }
    assert.deepEqual(warning, { ...told, message: warning?.message })
    const [removed] = updated(change('remove', '100'), LARGE).warnings
    assert.deepEqual([removed?.asked, removed?.value], ['100', '90.826522'])
  })

  it('is refused below one step, with the amounts around it', () => {
    const field = 'collateral.amount'
    assert.deepEqual(
      refusalOf(() => updated(change('add', '10'), LARGE), 'UNSUPPORTED'),
      { field, action: 'add', value: '10', nearest: { below: '0', above: '90.99181' } },
    )
    assert.deepEqual(
      refusalOf(() => updated(change('remove', '10'), LARGE), 'UNSUPPORTED'),
      { field, action: 'remove', value: '10', nearest: { below: '0', above: '90.826522' } },
    )
    for (const [action, above] of [['add', '90.99181'] as const, ['remove', '90.826522'] as const]) {
      assert.deepEqual(updated(change(action, above), LARGE).warnings, [])
    }
  })

  it('never moves more than was asked, and no step nearer to it exists', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('add' as const, 'remove' as const),
        fc.bigInt({ min: usdc(5), max: usdc(1_000_000) }),
        fc.integer({ min: 1_100, max: 150_000 }),
        fc.integer({ min: 1, max: 9_000 }),
        (action, collateral, leverage, share) => {
          const amount = (collateral * BigInt(share)) / 10_000n
          const held = positionOf({ collateralAmount: CollateralAmount.of(collateral), leverage })
          const after = (step: bigint) => (collateral * BigInt(leverage)) / step
          const moved = (step: bigint) => (action === 'add' ? after(step) - collateral : collateral - after(step))
          const one = action === 'add' ? -1n : 1n
          let plan
          try {
            plan = updated(change(action, formatDecimal(amount, 6)), held, UNLIMITED)
          } catch (error) {
            assert.ok(error instanceof ApiError)
            if (error.code === 'LEVERAGE_OUT_OF_RANGE') return
            assert.equal(error.code, amount === 0n ? 'VALIDATION_ERROR' : 'UNSUPPORTED')
            assert.ok(moved(BigInt(leverage) + one) > amount)
            return
          }
          const chosen = BigInt(decoded(plan.calls[0]!).args[1] as number)
          assert.ok(moved(chosen) <= amount)
          assert.ok(moved(chosen + one) > amount)
          assert.equal(plan.takes?.amount ?? 0n, action === 'add' ? moved(chosen) : 0n)
          const isFar = (amount - moved(chosen)) * 100n > amount
          assert.deepEqual(
            plan.warnings.map(({ code }) => code),
            isFar ? ['collateral_rounded'] : [],
          )
        },
      ),
    )
  })

  it("can't be taken away altogether, nor so that the leverage leaves its range", () => {
    assert.deepEqual(
      issuePaths(() => updated(change('remove', '100'))),
      ['body.collateral.amount'],
    )
    assert.deepEqual(
      issuePaths(() => updated(change('remove', '101'))),
      ['body.collateral.amount'],
    )
    const details = refusalOf(() => updated(change('remove', '96')), 'LEVERAGE_OUT_OF_RANGE')
    assert.equal(details['leverage'], '250')
    refusalOf(() => updated(change('add', '1000000')), 'LEVERAGE_OUT_OF_RANGE')
  })

  it('must change by something', () => {
    assert.deepEqual(
      issuePaths(() => updated(change('add', '0'))),
      ['body.collateral.amount'],
    )
  })

  it('has the decimals of its token and needs an open market', () => {
    const details = refusalOf(() => updated(change('add', '1.0000001')), 'PRECISION_ERROR')
    assert.deepEqual(details, { field: 'collateral.amount', value: '1.0000001', maxDecimals: 6 })
    refusalOf(() => updated(change('add', '1'), positionOf(), CLOSED), 'MARKET_CLOSED')
  })
})

describe('an update of a position', () => {
  it('changes one kind of thing', () => {
    assert.deepEqual(
      issuePaths(() => updated({})),
      ['body'],
    )
    assert.deepEqual(
      issuePaths(() => updated({ sl: '1', leverage: '5' })),
      ['body'],
    )
    const collateral = { action: 'add', amount: '1' } as const
    assert.deepEqual(
      issuePaths(() => updated({ leverage: '5', collateral })),
      ['body'],
    )
    assert.deepEqual(
      issuePaths(() => updated({ tp: '1', collateral })),
      ['body'],
    )
  })
})
