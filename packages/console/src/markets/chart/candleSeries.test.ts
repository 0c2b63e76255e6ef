import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Candle } from '@bezel/protocol/wire'
import { barOf, intervalOf, seriesChange, summaryOf } from './candleSeries.ts'

const HOUR_MS = 3_600_000

const candle = (hour: number, close = '100'): Candle => ({
  time: hour * HOUR_MS,
  open: '100',
  high: '110',
  low: '90',
  close,
})

const hours = (from: number, to: number): readonly Candle[] =>
  Array.from({ length: to - from }, (_, place) => candle(from + place))

describe('a drawn series', () => {
  it('is left alone when nothing changed, whether or not the objects are the same', () => {
    assert.deepEqual(seriesChange(hours(1, 5), hours(1, 5)), { kind: 'same' })
  })

  it('gets the new state of the last candle, and the ones after it', () => {
    const drawn = hours(1, 5)
    const moved = [...drawn.slice(0, -1), candle(4, '101')]
    assert.deepEqual(seriesChange(drawn, moved), { kind: 'update', bars: [barOf(candle(4, '101'))] })
    const next = seriesChange(drawn, [...moved, candle(5)])
    assert.deepEqual(next, { kind: 'update', bars: [candle(4, '101'), candle(5)].map(barOf) })
    assert.deepEqual(seriesChange(drawn, hours(1, 6)), { kind: 'update', bars: [barOf(candle(5))] })
  })

  it('is drawn anew when older candles come, when one in the middle changes, and when many are new', () => {
    const drawn = hours(10, 15)
    assert.deepEqual(seriesChange(drawn, hours(5, 15)), { kind: 'replace', bars: hours(5, 15).map(barOf) })
    const middle = drawn.map((one, place) => (place === 1 ? candle(11, '99') : one))
    assert.equal(seriesChange(drawn, middle).kind, 'replace')
    assert.equal(seriesChange(drawn, hours(10, 60)).kind, 'replace')
    assert.equal(seriesChange(drawn, hours(10, 12)).kind, 'replace')
    assert.deepEqual(seriesChange([], drawn), { kind: 'replace', bars: drawn.map(barOf) })
  })

  it('has times in seconds and prices as numbers', () => {
    assert.deepEqual(barOf(candle(1, '100.5')), { time: 3_600, open: 100, high: 110, low: 90, close: 100.5 })
  })
})

describe('the words of a chart', () => {
  it('have change, highest and lowest', () => {
    const text = summaryOf('BTC/USD', '1h', [...hours(1, 4), { ...candle(4, '105'), high: '120' }])
    assert.match(text, /^BTC\/USD, candles of 1 hour since /)
    assert.match(text, /last price 105/)
    assert.match(text, /change \+5[.,]00/)
    assert.match(text, /highest 120.*lowest 90/)
  })

  it('say that there is nothing', () => {
    assert.match(summaryOf('BTC/USD', '1h', []), /no candles/)
  })
})

describe('the width in an address', () => {
  it('is one of the seven, else an hour', () => {
    assert.equal(intervalOf('5m'), '5m')
    assert.equal(intervalOf('2h'), '1h')
    assert.equal(intervalOf(undefined), '1h')
  })
})
