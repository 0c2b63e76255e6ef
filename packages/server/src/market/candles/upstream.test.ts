import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { mergeHistory } from './upstream.ts'
import type { Ohlc } from '../feed/pages.ts'
import { flatOhlc } from './candleText.ts'

const candles = (...entries: (readonly [number, Ohlc])[]) => new Map(entries)

const moved: Ohlc = { open: Price.of(1n), high: Price.of(9n), low: Price.of(1n), close: Price.of(5n) }

describe('mergeHistory', () => {
  const merge = (history: ReadonlyMap<number, Ohlc>, own: ReadonlyMap<number, Ohlc>) => [
    ...mergeHistory({ fromMs: 10, toMs: 40, widthMs: 10, history, own }),
  ]

  it('takes the word of the upstream where it has one', () => {
    const history = candles(
      [10, moved],
      [20, flatOhlc(Price.of(6n))],
      [30, flatOhlc(Price.of(7n))],
      [40, flatOhlc(Price.of(8n))],
    )
    assert.deepEqual(merge(history, candles([10, flatOhlc(Price.of(1n))], [40, flatOhlc(Price.of(1n))])), [...history])
  })

  it('carries the corrected close on, and leaves what was observed', () => {
    const own = candles(
      [0, flatOhlc(Price.of(3n))],
      [10, flatOhlc(Price.of(3n))],
      [20, flatOhlc(Price.of(3n))],
      [30, { ...moved, close: Price.of(2n) }],
      [40, flatOhlc(Price.of(2n))],
    )
    assert.deepEqual(merge(candles([10, moved]), own), [
      [10, moved],
      [20, flatOhlc(Price.of(5n))],
      [30, { ...moved, close: 2n }],
      [40, flatOhlc(Price.of(2n))],
    ])
  })

  it('has nothing before the first candle that is known', () => {
    assert.deepEqual(merge(candles([30, moved]), candles()), [
      [30, moved],
      [40, flatOhlc(Price.of(5n))],
    ])
    assert.deepEqual(merge(candles(), candles()), [])
  })
})
