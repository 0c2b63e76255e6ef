import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatDecimal, Leverage, type UpdatePositionRequest } from '@bezel/protocol'
import fc from 'fast-check'
import { usd } from '../../market/testing/fixtures.ts'
import { usdc } from '../valuation/testing/fixtures.ts'
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
    assert.deepEqual(rest, { kind: 'update', action, validity: 'resting', takes: null })
  })

  it('are cleared with 0', () => {
    assert.deepEqual(updated({ sl: '0' }).calls.map(decoded), [{ name: 'updateSl', args: [4, 0n] }])
    assert.deepEqual(updated({ tp: '0' }).calls.map(decoded), [{ name: 'updateTp', args: [4, 0n] }])
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
    const { calls, ...rest } = updated({ leverage: '12.5' })
    assert.deepEqual(calls.map(decoded), [{ name: 'updateLeverage', args: [4, 12_500] }])
    const action = { market: 'BTC/USD', leverage: 12_500n, spendUsd: 0n }
    assert.deepEqual(rest, { kind: 'update', action, validity: 'resting', takes: null })
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

  it('is rounded to the next 0.001 of leverage, so that the position has at least what was asked for', () => {
    const { calls, takes } = updated(change('add', '1'))
    assert.deepEqual(decoded(calls[0]!).args, [4, 9_900])
    assert.equal(takes?.amount, 1_010_101n)
  })

  it('ends within one step of the leverage, for any change', () => {
    const collateral = usdc(100)
    fc.assert(
      fc.property(
        fc.constantFrom('add' as const, 'remove' as const),
        fc.bigInt({ min: usdc(0.01), max: usdc(94) }),
        (action, amount) => {
          const wanted = action === 'add' ? collateral + amount : collateral - amount
          const { calls, takes } = updated(change(action, formatDecimal(amount, 6)))
          const leverage = BigInt(decoded(calls[0]!).args[1] as number)
          const after = (collateral * 10_000n) / leverage
          assert.ok(after >= wanted)
          assert.ok((collateral * 10_000n) / (leverage + 1n) <= wanted)
          assert.equal(takes?.amount ?? 0n, action === 'add' ? after - collateral : 0n)
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

  it('must change by something that moves the leverage', () => {
    assert.deepEqual(
      issuePaths(() => updated(change('remove', '0.000001'))),
      ['body.collateral.amount'],
    )
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
