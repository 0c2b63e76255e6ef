import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { TriggerMark } from './priceLines.ts'
import {
  draggedPrice,
  draggedY,
  firstTrigger,
  gainOf,
  handlePlace,
  spreadHandles,
  steppedPrice,
  triggerProblem,
  type PriceScale,
} from './triggerDrag.ts'

/** A scale from `top` at the upper edge to `bottom` at the lower one. */
const scaleOf = (top: number, bottom: number, height = 400): PriceScale => ({
  height,
  priceAt: (y) => top - (y / height) * (top - bottom),
  yOf: (price) => ((top - price) / (top - bottom)) * height,
})

const TWO = { pricePrecision: 2 }

const mark = (given: Partial<TriggerMark> = {}): TriggerMark => ({
  id: 'tp-7',
  positionId: '7',
  trigger: 'tp',
  side: 'long',
  price: null,
  entryPrice: '100',
  ordinal: null,
  ...given,
})

const arrow = (key: string, shiftKey = false) => ({ key, shiftKey })

describe('a handle', () => {
  it('is beside its price', () => {
    assert.deepEqual(handlePlace('100', scaleOf(120, 80)), { y: 200, beyond: null })
  })

  it('waits at the edge that its price is beyond', () => {
    assert.deepEqual(handlePlace('500', scaleOf(120, 80)), { y: 14, beyond: 'above' })
    assert.deepEqual(handlePlace('1', scaleOf(120, 80)), { y: 386, beyond: 'below' })
    assert.deepEqual(handlePlace('119.9', scaleOf(120, 80)), { y: 14, beyond: null })
  })

  it('is nowhere while nothing is drawn', () => {
    assert.equal(handlePlace('100', { ...scaleOf(120, 80), yOf: () => null }), null)
    assert.equal(handlePlace('100', scaleOf(120, 80, 20)), null)
  })

  it('makes room for others, inside the pane and in order', () => {
    assert.deepEqual(spreadHandles([100, 100, 100], 400), [100, 126, 152])
    assert.deepEqual(spreadHandles([386, 386], 400), [360, 386])
    assert.deepEqual(spreadHandles([300, 50], 400), [300, 50])
    assert.deepEqual(spreadHandles([], 400), [])
  })

  it('never covers another one where there is room', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 10 }), (places) => {
        const apart = spreadHandles(places, 400).toSorted((a, b) => a - b)
        for (const [place, y] of apart.entries()) {
          assert.ok(y >= 14 && y <= 386, `${y}`)
          assert.ok(place === 0 || y - apart[place - 1]! >= 26 - 1e-9)
        }
      }),
    )
  })
})

describe('a dragged price', () => {
  it('has no more digits than a pixel tells apart, and than the market takes', () => {
    assert.equal(draggedPrice(101, scaleOf(66_000, 64_000), TWO), '65495')
    assert.equal(draggedPrice(33, scaleOf(120, 80), TWO), '116.7')
    assert.equal(draggedPrice(33, scaleOf(1.0002, 1.0001), { pricePrecision: 5 }), '1.00019')
    assert.equal(draggedPrice(7, scaleOf(3e-7, 2e-7), { pricePrecision: 12 })?.startsWith('0.000000298'), true)
  })

  it('goes on beyond the pane, and is none without a scale or below zero', () => {
    assert.equal(draggedPrice(-50, scaleOf(120, 80), TWO), '125')
    assert.equal(draggedPrice(500, scaleOf(120, 80), TWO), '70')
    assert.equal(draggedPrice(900, scaleOf(100, 90), { pricePrecision: 0 }), '78')
    assert.equal(draggedPrice(390, scaleOf(10, -10), TWO), null)
    assert.equal(draggedPrice(5, { ...scaleOf(120, 80), priceAt: () => null }, TWO), null)
  })
})

describe('a dragged line', () => {
  it('follows the pointer from where it is', () => {
    assert.equal(draggedY('100', -40, scaleOf(120, 80)), 160)
    assert.equal(draggedY('100', 40, scaleOf(120, 80)), 240)
  })

  it('beyond an edge goes farther out, or comes in from the edge, and never the wrong way', () => {
    assert.equal(draggedY('130', -40, scaleOf(120, 80)), -140)
    assert.equal(draggedY('130', 40, scaleOf(120, 80)), 54)
    assert.equal(draggedY('70', 40, scaleOf(120, 80)), 540)
    assert.equal(draggedY('70', -40, scaleOf(120, 80)), 346)
    assert.equal(draggedY('70', 4, { ...scaleOf(120, 80), yOf: () => null }), null)
  })
})

describe('a price moved by keys', () => {
  it('goes by round steps, ten of them with Shift or the page keys', () => {
    assert.equal(steppedPrice('65000', arrow('ArrowUp'), TWO), '65005')
    assert.equal(steppedPrice('65000', arrow('ArrowDown'), TWO), '64995')
    assert.equal(steppedPrice('65000', arrow('ArrowUp', true), TWO), '65050')
    assert.equal(steppedPrice('65000', arrow('PageDown'), TWO), '64950')
    assert.equal(steppedPrice('1.1', arrow('ArrowUp'), { pricePrecision: 5 }), '1.1005')
  })

  it('goes by the smallest step of the market where that is larger', () => {
    assert.equal(steppedPrice('0.14', arrow('ArrowUp'), TWO), '0.15')
    assert.equal(steppedPrice('5', arrow('ArrowUp'), { pricePrecision: 0 }), '6')
  })

  it('ends above zero, and other keys do nothing', () => {
    assert.equal(steppedPrice('0.01', arrow('ArrowDown'), TWO), null)
    assert.equal(steppedPrice('65000', arrow('Enter'), TWO), null)
    assert.equal(steppedPrice('65000', arrow('toString'), TWO), null)
  })
})

describe('a trigger', () => {
  it('begins on the side where it can be, beyond entry and mark', () => {
    assert.equal(firstTrigger(mark(), '90', TWO), '101')
    assert.equal(firstTrigger(mark(), '110', TWO), '111.1')
    assert.equal(firstTrigger(mark({ trigger: 'sl' }), '90', TWO), '89.1')
    assert.equal(firstTrigger(mark({ side: 'short' }), '110', TWO), '99')
    assert.equal(firstTrigger(mark({ trigger: 'sl', side: 'short' }), null, TWO), '101')
  })

  it('is refused on the wrong side of the price, with the reason', () => {
    assert.equal(triggerProblem('100', '101', mark()), null)
    assert.match(triggerProblem('100', '100', mark()) ?? '', /take profit of a long must be above/)
    assert.match(triggerProblem('100', '101', mark({ trigger: 'sl' })) ?? '', /stop loss of a long must be below/)
    assert.match(triggerProblem('100', '99', mark({ trigger: 'sl', side: 'short' })) ?? '', /short must be above/)
    assert.equal(triggerProblem(null, '1', mark()), null)
  })

  it('tells the gain of its position', () => {
    assert.equal(gainOf('110', mark()), '0.100000')
    assert.equal(gainOf('110', mark({ side: 'short' })), '-0.100000')
  })
})
