import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mergeHistory } from './mergeHistory.ts'
import { flatOhlc, type Ohlc } from './ohlc.ts'

const candles = (...entries: (readonly [number, Ohlc])[]) => new Map(entries)
const moved: Ohlc = { open: 1n, high: 9n, low: 1n, close: 5n }

describe('mergeHistory', () => {
  const merge = (history: ReadonlyMap<number, Ohlc>, own: ReadonlyMap<number, Ohlc>) => [
    ...mergeHistory({ fromMs: 10, toMs: 40, widthMs: 10, history, own }),
  ]

  it('takes the word of the upstream where it has one', () => {
    const history = candles([10, moved], [20, flatOhlc(6n)], [30, flatOhlc(7n)], [40, flatOhlc(8n)])
    assert.deepEqual(merge(history, candles([10, flatOhlc(1n)], [40, flatOhlc(1n)])), [...history])
  })

  it('carries the corrected close on, and leaves what was observed', () => {
    const own = candles(
      [0, flatOhlc(3n)],
      [10, flatOhlc(3n)],
      [20, flatOhlc(3n)],
      [30, { ...moved, close: 2n }],
      [40, flatOhlc(2n)],
    )
    assert.deepEqual(merge(candles([10, moved]), own), [
      [10, moved],
      [20, flatOhlc(5n)],
      [30, { ...moved, close: 2n }],
      [40, flatOhlc(2n)],
    ])
  })

  it('has nothing before the first candle that is known', () => {
    assert.deepEqual(merge(candles([30, moved]), candles()), [
      [30, moved],
      [40, flatOhlc(5n)],
    ])
    assert.deepEqual(merge(candles(), candles()), [])
  })
})
