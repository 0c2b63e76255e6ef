import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BookLevel, OrderBook } from '@bezel/protocol/wire'
import { depthKind, distanceOf, drawDepth, nearestMark } from './depthCurve.ts'

const level = (price: string, cumulativeUsd: string): BookLevel => ({ price, size: '1', sizeUsd: '1', cumulativeUsd })

const BOOK: OrderBook = {
  market: 'BTC/USD',
  markPrice: '100',
  bids: [level('99', '50'), level('98', '200')],
  asks: [level('101', '100'), level('102', '150')],
  timestamp: 0,
}

const SIZE = { width: 204, height: 100 }

describe('the picture of a book', () => {
  it('has the mark in the middle and each level in its place, from low to high', () => {
    const { markX, marks } = drawDepth(BOOK, SIZE)
    assert.equal(markX, 102)
    assert.deepEqual(
      marks.map(({ side, x, y }) => [side, x, y]),
      [
        ['bid', 2, 8],
        ['bid', 52, 77],
        ['ask', 152, 54],
        ['ask', 202, 31],
      ],
    )
  })

  it('draws steps that rise away from the mark, to the edges', () => {
    const { bidsPath, asksPath } = drawDepth(BOOK, SIZE)
    assert.equal(bidsPath, 'M52 100H52V77H2V8H0V100Z')
    assert.equal(asksPath, 'M152 100H152V54H202V31H204V100Z')
  })

  it('draws a side that is empty as nothing, and never a number that is none', () => {
    const { bidsPath, asksPath } = drawDepth({ ...BOOK, bids: [], asks: [level('100', '0')] }, SIZE)
    assert.equal(bidsPath, '')
    assert.doesNotMatch(asksPath, /NaN|Infinity/)
  })

  it('is a curve only with levels that differ', () => {
    assert.equal(depthKind(BOOK), 'curve')
    assert.equal(depthKind({ bids: BOOK.bids.slice(0, 1), asks: BOOK.asks.slice(0, 1) }), 'flat')
    assert.equal(depthKind({ bids: [], asks: [] }), 'none')
  })

  it('finds the level under the pointer', () => {
    const { marks } = drawDepth(BOOK, SIZE)
    assert.equal(nearestMark(marks, 0), 0)
    assert.equal(nearestMark(marks, 60), 1)
    assert.equal(nearestMark(marks, 204), 3)
    assert.equal(nearestMark([], 10), -1)
  })

  it('tells the distance of a level with its sign, never in powers of ten', () => {
    assert.equal(Number(distanceOf(level('99', '1'), '100')), -0.01)
    assert.equal(distanceOf(level('100.00001', '1'), '100'), '0.00000010')
    assert.equal(distanceOf(level('1', '1'), '0'), '0')
  })
})
