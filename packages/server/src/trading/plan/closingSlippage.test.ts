import { Slippage } from '@bezel/protocol'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { usd } from '../../market/testing/fixtures.ts'
import { closingSlippageOf, isTight, restoreSlippage, slippageCalls, tightCloseWarnings } from './closingSlippage.ts'
import { planUpdatePosition } from './planUpdatePosition.ts'
import { contextOf, decoded, positionOf, slipping } from './testing/fixtures.ts'

const stops = (slippageP: number, body: object, isClosing = false) => {
  const position = slipping(positionOf(), slippageP)
  return restoreSlippage(position, planUpdatePosition(position, body, contextOf()), isClosing)
}
const namesOf = (...of: Parameters<typeof stops>) => stops(...of).calls.map((call) => decoded(call).name)
const warned = (...of: Parameters<typeof stops>) => stops(...of).warnings.map(({ code, value }) => [code, value])

const RESTORE = 'updateMaxClosingSlippageP'

describe('the closing slippage of a position whose stops are set', () => {
  it('is put back to the default where it is tighter, and the answer says so', () => {
    const { calls } = stops(50, { sl: '55000', tp: '70000' })
    assert.deepEqual(calls.map(decoded), [
      { name: RESTORE, args: [4, 1_000] },
      { name: 'updateSl', args: [4, usd(55_000)] },
      { name: 'updateTp', args: [4, usd(70_000)] },
    ])
    assert.deepEqual(warned(50, { tp: '70000' }), [['closing_slippage_reset', '1']])
    assert.match(stops(50, { tp: '70000' }).warnings[0]!.message, /becomes 1 %: with the 0\.05 %/)
    assert.deepEqual(namesOf(999, { sl: '55000' }), [RESTORE, 'updateSl'])
  })

  it('stays where it is the default or wider, and where stops are only removed', () => {
    for (const slippageP of [0, 1_000, 1_001, 65_535])
      assert.deepEqual(namesOf(slippageP, { sl: '55000' }), ['updateSl'])
    assert.deepEqual(namesOf(50, { sl: '0', tp: '0' }), ['updateSl', 'updateTp'])
    assert.deepEqual(warned(50, { sl: '0', tp: '0' }), [])
    assert.deepEqual(namesOf(50, { sl: '0', tp: '70000' }), [RESTORE, 'updateSl', 'updateTp'])
  })

  it('stays while a close waits, which it bounds, and the answer says that the stops may not execute', () => {
    assert.deepEqual(namesOf(50, { sl: '55000' }, true), ['updateSl'])
    assert.deepEqual(warned(50, { sl: '55000' }, true), [['closing_slippage_kept', '0.05']])
    assert.deepEqual(warned(0, { sl: '55000' }, true), [])
  })
})

describe('the slippage of a close', () => {
  const calls = (inForceP: number, askedP: number) =>
    slippageCalls(slipping(positionOf(), inForceP), Slippage.of(askedP)).map(decoded)

  it('is set where another one is in force, and a tight one always, because stops put it back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 1, max: 65_535 }), (inForceP, askedP) => {
        const isSet = (inForceP || 1_000) !== askedP || askedP < 1_000
        assert.deepEqual(calls(inForceP, askedP), isSet ? [{ name: RESTORE, args: [4, askedP] }] : [])
        const position = slipping(positionOf(), inForceP)
        assert.equal(isTight(position), closingSlippageOf(position) < Slippage.one)
      }),
    )
  })

  it('is told to stay with the position where that has a stop and it is tighter than the default', () => {
    const told = (percent: string, trade = {}) =>
      tightCloseWarnings(Slippage.parse(percent as never)!, [positionOf(), positionOf(trade)])
    const [warning, ...others] = told('0.05', { tp: usd(70_000) })
    assert.deepEqual(others, [])
    assert.deepEqual(
      [warning?.code, warning?.field, warning?.value, warning?.asked],
      ['closing_slippage_kept', 'slippage', '0.05', undefined],
    )
    assert.equal(told('0.999', { sl: usd(55_000) }).length, 1)
    assert.deepEqual([told('0.05'), told('1', { sl: usd(55_000) }), told('3', { sl: usd(55_000) })], [[], [], []])
  })
})
