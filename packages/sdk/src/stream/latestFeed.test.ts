import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conflate } from './latestFeed.ts'
import type { BookEvent, CandlesEvent, PricesEvent, TradesEvent } from './streamEvents.ts'

function prices(seq: number, snapshot: boolean, marks: Record<string, string>): PricesEvent {
  const data = Object.entries(marks).map(([market, mark]) => ({ market, mark, index: mark, updatedAt: seq }))
  return { channel: 'prices', snapshot, seq, data }
}

function trades(snapshot: boolean, times: readonly number[]): TradesEvent {
  const market = 'BTC/USD'
  const of = { market, price: '1', sizeUsd: '1', side: 'long', action: 'TradeOpenedMarket', txHash: '0x' } as const
  return { channel: 'trades', market, snapshot, data: times.map((timestamp) => ({ ...of, timestamp })) }
}

function candles(snapshot: boolean, closes: readonly [time: number, close: string][]): CandlesEvent {
  const data = closes.map(([time, close]) => ({ time, open: '1', high: '1', low: '1', close }))
  return { channel: 'candles', market: 'BTC/USD', interval: '1m', snapshot, data }
}

const downFrom = (from: number, count: number) => Array.from({ length: count }, (_, at) => from - at)

describe('two events as one', () => {
  it('keeps the newest price of each market, and that the first one was a snapshot', () => {
    const merged = conflate(prices(1, true, { A: '1', B: '2' }), prices(2, false, { B: '3', C: '4' }))
    assert.deepEqual([merged.snapshot, merged.seq], [true, 2])
    assert.deepEqual(
      merged.data.map(({ market, mark }) => [market, mark]),
      [
        ['A', '1'],
        ['B', '3'],
        ['C', '4'],
      ],
    )
  })

  it('is a change when both are', () => {
    assert.equal(conflate(prices(1, false, { A: '1' }), prices(2, false, { A: '2' })).snapshot, false)
  })

  it('is the later one when that is a snapshot', () => {
    const snapshot = prices(9, true, { A: '5' })
    assert.equal(conflate(prices(1, false, { B: '1' }), snapshot), snapshot)
  })

  it('keeps the newest book', () => {
    const book = (seq: number, snapshot: boolean): BookEvent => {
      const data = { market: 'BTC/USD', markPrice: String(seq), bids: [], asks: [], timestamp: seq }
      return { channel: 'book', market: 'BTC/USD', snapshot, seq, data }
    }
    assert.deepEqual(conflate(book(1, true), book(2, false)), { ...book(2, true) })
  })

  it('keeps trades newest first, and says when some fell out', () => {
    const few = conflate(trades(false, [2, 1]), trades(false, [4, 3]))
    assert.deepEqual([few.snapshot, few.data.map(({ timestamp }) => timestamp)], [false, [4, 3, 2, 1]])
    const many = conflate(trades(false, downFrom(80, 80)), trades(false, downFrom(160, 80)))
    assert.deepEqual([many.snapshot, many.data.length], [true, 100])
    assert.deepEqual([many.data[0]!.timestamp, many.data.at(-1)!.timestamp], [160, 61])
  })

  it('replaces candles by their time, oldest first, and keeps the newest hundred', () => {
    const merged = conflate(
      candles(false, [
        [60, 'a'],
        [120, 'b'],
      ]),
      candles(false, [
        [120, 'c'],
        [180, 'd'],
      ]),
    )
    assert.deepEqual(
      merged.data.map(({ time, close }) => [time, close]),
      [
        [60, 'a'],
        [120, 'c'],
        [180, 'd'],
      ],
    )
    const hundred = Array.from({ length: 100 }, (_, at): [number, string] => [at, 'x'])
    const more = conflate(candles(true, hundred), candles(false, [[100, 'y']]))
    assert.deepEqual([more.data.length, more.data[0]!.time, more.data.at(-1)!.time], [100, 1, 100])
  })
})
