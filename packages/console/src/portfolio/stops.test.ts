import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeOfStops, typedStops } from './stops.ts'

const MARKET = { pricePrecision: 1 }
const LONG = { side: 'long', tp: '66000', sl: '0', liquidationPrice: '54600' } as const
const MARK = '60000'

describe('a change of stops', () => {
  it('is nothing as long as nothing changed', () => {
    assert.deepEqual(typedStops(LONG), { tp: '66000', sl: '' })
    assert.equal(changeOfStops(LONG, typedStops(LONG), MARK, MARKET).request, null)
  })

  it('names what changed, rounded to the market, and clears what was emptied', () => {
    assert.deepEqual(changeOfStops(LONG, { tp: '67000.06', sl: '57000' }, MARK, MARKET).request, {
      tp: '67000.1',
      sl: '57000',
    })
    assert.deepEqual(changeOfStops(LONG, { tp: '', sl: '' }, MARK, MARKET).request, { tp: '0' })
  })

  it('is refused on the wrong side of the mark, for both sides', () => {
    const { request, problems } = changeOfStops(LONG, { tp: '59000', sl: '61000' }, MARK, MARKET)
    assert.equal(request, null)
    assert.match(problems.tp ?? '', /take profit of a long is above the mark/)
    assert.match(problems.sl ?? '', /stop loss of a long is below the mark/)
    const short = { side: 'short', tp: '0', sl: '0', liquidationPrice: '65400' } as const
    assert.deepEqual(changeOfStops(short, { tp: '59000', sl: '61000' }, MARK, MARKET).request, {
      tp: '59000',
      sl: '61000',
    })
    assert.match(changeOfStops(short, { tp: '', sl: '59000' }, MARK, MARKET).problems.sl ?? '', /above the mark/)
  })

  it('is refused beyond the liquidation, and for what is no price', () => {
    assert.match(changeOfStops(LONG, { tp: '66000', sl: '54000' }, MARK, MARKET).problems.sl ?? '', /liquidated at/)
    assert.match(changeOfStops(LONG, { tp: '.', sl: '' }, MARK, MARKET).problems.tp ?? '', /above 0/)
  })
})
