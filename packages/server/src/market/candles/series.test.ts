import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import type { Ohlc } from '../feed/pages.ts'
import { joinOhlc } from './candleText.ts'
import { addTickTo, advanceSeries, createSeries, endGap, isReadable, runningOhlc, type Series } from './series.ts'

const MINUTE_MS = 60_000

const ohlc = (open: bigint, high: bigint, low: bigint, close: bigint): Ohlc => ({
  open: Price.of(open),
  high: Price.of(high),
  low: Price.of(low),
  close: Price.of(close),
})

describe('a series of candles', () => {
  const ended: [number, Ohlc][] = []
  const onEnded = (_series: Series, timeMs: number, candle: Ohlc): void =>
    void ended.push([timeMs, joinOhlc(candle, candle)!])
  function begin(): Series {
    ended.length = 0
    const series = createSeries(3, '1m', 5_000)
    series.unseen = undefined
    series.sinceMs = 0
    return series
  }

  it('counts a tick at a boundary to the candle that begins there', () => {
    const series = begin()
    addTickTo(series, Price.of(10n), 59_999)
    advanceSeries(series, 60_000, onEnded)
    addTickTo(series, Price.of(20n), 60_000)
    assert.deepEqual(ended, [[0, ohlc(10n, 10n, 10n, 10n)]])
    assert.deepEqual([series.timeMs, runningOhlc(series)!.open, runningOhlc(series)!.close], [MINUTE_MS, 20n, 20n])
  })

  it('orders ticks by their time', () => {
    const series = begin()
    for (const [price, timeMs] of [
      [5n, 20],
      [9n, 30],
      [1n, 25],
      [7n, 10],
      [8n, 30],
    ] as const) {
      addTickTo(series, Price.of(price), timeMs)
    }
    const { open, high, low, close } = runningOhlc(series)!
    assert.deepEqual([open, high, low, close], [7n, 9n, 1n, 8n])
  })

  it('carries the close over candles without ticks, and opens with the first tick', () => {
    const series = begin()
    assert.equal(runningOhlc(series), undefined, 'no price yet')
    addTickTo(series, Price.of(10n), 1)
    advanceSeries(series, 3 * MINUTE_MS + 1, onEnded)
    assert.deepEqual(
      ended.map(([timeMs, { close }]) => [timeMs, close]),
      [
        [0, 10n],
        [MINUTE_MS, 10n],
        [2 * MINUTE_MS, 10n],
      ],
    )
    assert.deepEqual(runningOhlc(series), ohlc(10n, 10n, 10n, 10n))
    addTickTo(series, Price.of(12n), 3 * MINUTE_MS + 2)
    assert.deepEqual([runningOhlc(series)!.open, runningOhlc(series)!.low], [12n, 12n])
  })

  it('knows which candles it has not seen, until something is heard of the pair', () => {
    const series = begin()
    addTickTo(series, Price.of(10n), 1)
    endGap(series, 2 * MINUTE_MS)
    advanceSeries(series, 2 * MINUTE_MS, onEnded)
    advanceSeries(series, 3 * MINUTE_MS, onEnded)
    assert.deepEqual(series.unseen, { fromMs: 0, toMs: 3 * MINUTE_MS, again: undefined })
    addTickTo(series, Price.of(11n), 3 * MINUTE_MS)
    advanceSeries(series, 4 * MINUTE_MS, onEnded)
    assert.equal(series.unseen?.toMs, 3 * MINUTE_MS)
    assert.ok(isReadable(series))
  })

  it('does not take a tick from before for the close, but for a sign that it missed something', () => {
    const series = begin()
    advanceSeries(series, 2 * MINUTE_MS, onEnded)
    addTickTo(series, Price.of(10n), 2 * MINUTE_MS + 5)
    addTickTo(series, Price.of(99n), MINUTE_MS + 5)
    assert.equal(runningOhlc(series)!.high, 10n)
    assert.deepEqual(series.unseen, { fromMs: MINUTE_MS, toMs: 2 * MINUTE_MS, again: undefined })
  })

  it('reads again what it opened with when a tick is older than all it heard, and for no other', () => {
    const series = begin()
    series.before = ohlc(5n, 5n, 5n, 5n)
    for (const timeMs of [20, 30, 25]) addTickTo(series, Price.of(10n), timeMs)
    assert.equal(series.unseen, undefined)
    addTickTo(series, Price.of(10n), 19)
    assert.deepEqual(series.unseen, { fromMs: 0, toMs: 0, again: undefined })
  })

  it('does not fill a gap that is longer than any answer', () => {
    const series = begin()
    addTickTo(series, Price.of(10n), 1)
    endGap(series, 6_000 * MINUTE_MS)
    advanceSeries(series, 6_000 * MINUTE_MS, onEnded)
    assert.deepEqual(ended, [])
    assert.deepEqual(series.unseen, { fromMs: series.timeMs, toMs: series.timeMs, again: undefined })
    assert.equal(series.lastClose, 10n)
  })
})
