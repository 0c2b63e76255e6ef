import type { LivePosition, PositionState } from '../../trading/positions/positionModel.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PositionSchema, type Position } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { createWorld, portsOf, usd } from '../../market/testing/fixtures.ts'
import { ORDINARY_TERMS } from '../../trading/valuation/chainState.ts'
import { createLoggedPositions } from './loggedPositions.ts'
import { ALICE, live } from './testing/livePosition.ts'

function changed({ record, state }: LivePosition, after: PositionState | undefined) {
  return { record, before: state, after }
}

function createLogged(positions: readonly LivePosition[], fixedSpreadP = 0) {
  const world = createWorld()
  const errors: unknown[] = []
  const text = createLoggedPositions({
    live: { ofTrader: (trader) => (trader === ALICE ? positions : []) },
    terms: { of: () => ({ ...ORDINARY_TERMS, fixedSpreadP }) },
    markets: () => world.chain,
    book: portsOf(world).book,
    head: () => ({ number: 100, timestampMs: 1_000_000 }),
    onError: (error) => errors.push(error),
  })
  return { world, errors, list: (...args: Parameters<typeof text>) => JSON.parse(text(...args)) as Position[] }
}

describe('positions for the log', () => {
  it('are all that are open once the changes are made, oldest first', () => {
    const [first, second, third] = [live('2'), live('10'), live('11')]
    const { list } = createLogged([first, second])
    const ids = (...args: Parameters<typeof list>) => list(...args).map(({ id }) => id)
    assert.deepEqual(ids(ALICE, []), ['2', '10'])
    assert.deepEqual(ids(ALICE, [{ record: third.record, before: undefined, after: third.state }]), ['2', '10', '11'])
    assert.deepEqual(ids(ALICE, [changed(first, { ...first.state, isOpen: false })]), ['10'])
    assert.deepEqual(ids(ALICE, [changed(second, undefined)]), ['2'], 'its opening was undone')
    const tp = { ...first.state, trade: { ...first.state.trade, tp: usd(70_000) } }
    assert.deepEqual(
      list(ALICE, [changed(first, tp)]).map((position) => position.tp),
      ['70000', '0'],
    )
  })

  it('have the shape of the interface, at the price last heard of', () => {
    const { world, list } = createLogged([live('1')])
    world.quotes.set(0, { ...world.quotes.get(0)!, mark: usd(61_000) })
    world.nowMs += 3_600_000
    const [position] = list(ALICE, [])
    assert.ok(Value.Check(PositionSchema, position))
    assert.equal(position?.markPrice, '61000')
  })

  it('have the own spread of their trader in the liquidation price, also when they just opened', () => {
    const { record, state } = live('1')
    const priceWith = (spread: number): number =>
      Number(createLogged([], spread).list(ALICE, [{ record, before: undefined, after: state }])[0]?.liquidationPrice)
    // Half of the spread brings the liquidation of a long nearer, up to the maximum of its parameters.
    assert.ok(priceWith(5) > priceWith(0))
  })

  it('are valued at their entry while nobody has heard of a price', () => {
    const { world, list } = createLogged([live('1')])
    world.quotes.clear()
    const [position] = list(ALICE, [])
    assert.equal(position?.markPrice, position?.entryPrice)
  })

  it('leave out nothing that is open: what can not be valued is told as it was opened', () => {
    const broken = { ...live('3'), state: { ...live('3').state, liquidationParams: null as never } }
    const { world, errors, list } = createLogged([live('1'), live('2', 999), broken])
    const positions = list(ALICE, [])
    assert.deepEqual(
      positions.map(({ id, market, unrealizedPnl }) => [id, market, unrealizedPnl === '0']),
      [
        ['1', 'BTC/USD', false],
        ['2', 'PAIR999/USD', true],
        ['3', 'BTC/USD', true],
      ],
    )
    for (const position of positions) assert.ok(Value.Check(PositionSchema, position))
    assert.equal(errors.length, 2)
    world.chain = undefined
    assert.throws(() => list(ALICE, []), /before the markets are read/)
  })
})
