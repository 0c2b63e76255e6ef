import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, it } from 'node:test'
import type { Candle, CandlesEvent } from '@bezel/sdk'
import { createCandleFeed, mergeCandles } from './candles.ts'

const MINUTE_MS = 60_000
const candle = (time: number, close = '1'): Candle => ({ time, open: '1', high: '1', low: '1', close })
const minutes = (from: number, count: number): Candle[] =>
  Array.from({ length: count }, (_none, place) => candle((from + place) * MINUTE_MS))

/** A subscription that tells what it is given. */
function createSubscription() {
  const waiting: CandlesEvent[] = []
  let wake = (): void => undefined
  const state = { isOpen: true }
  async function next(): Promise<IteratorResult<CandlesEvent, undefined>> {
    while (state.isOpen && waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    return state.isOpen ? { done: false, value: waiting.shift()! } : { done: true, value: undefined }
  }
  const close = (): void => {
    state.isOpen = false
    wake()
  }
  const subscription = {
    next,
    close,
    return: async () => ({ done: true as const, value: undefined }),
    [Symbol.asyncIterator]: () => subscription,
  }
  async function tell(data: readonly Candle[], snapshot = false): Promise<void> {
    waiting.push({ channel: 'candles', market: 'BTC/USD', interval: '1m', snapshot, data })
    wake()
    await pause(1)
  }
  return { subscription, tell, isOpen: () => state.isOpen }
}

describe('the candles of a market', () => {
  it('begin with history, and the last one is live', async () => {
    const { subscription, tell } = createSubscription()
    const feed = createCandleFeed('BTC/USD', '1m', { read: async () => minutes(500, 3), subscribe: () => subscription })
    await pause(1)
    await tell([candle(502 * MINUTE_MS, '2')])
    await tell([candle(503 * MINUTE_MS, '3')])
    assert.deepEqual(
      feed.candles.value?.map(({ close }) => close),
      ['1', '1', '2', '3'],
    )
    feed.close()
  })

  it('go back as one scrolls, until there is nothing older', async () => {
    const asked: unknown[] = []
    const { subscription, isOpen } = createSubscription()
    const read = async (
      _symbol: string,
      of: { readonly from?: number; readonly to?: number } = {},
    ): Promise<Candle[]> => {
      asked.push([of.from, of.to])
      if (of.to === undefined) return minutes(1_000, 2)
      return of.to > 600 * MINUTE_MS ? minutes(500, 500) : []
    }
    const feed = createCandleFeed('BTC/USD', '1m', { read, subscribe: () => subscription })
    await pause(1)
    await Promise.all([feed.loadOlder(), feed.loadOlder()])
    assert.deepEqual(asked, [
      [undefined, undefined],
      [500 * MINUTE_MS, 999 * MINUTE_MS],
    ])
    assert.equal(feed.candles.value?.length, 502)
    await feed.loadOlder()
    assert.equal(feed.isComplete.value, true)
    await feed.loadOlder()
    assert.equal(asked.length, 3)
    feed.close()
    assert.equal(isOpen(), false)
  })

  it('are read again when an outage left a hole', async () => {
    let reads = 0
    const { subscription, tell } = createSubscription()
    const read = async (): Promise<Candle[]> => ((reads += 1) === 1 ? minutes(500, 2) : minutes(500, 200))
    const feed = createCandleFeed('BTC/USD', '1m', { read, subscribe: () => subscription })
    await pause(1)
    await tell(minutes(600, 100), true)
    await pause(1)
    assert.deepEqual([reads, feed.candles.value?.length], [2, 200])
    feed.close()
  })

  it('say what keeps them away', async () => {
    const { subscription } = createSubscription()
    const read = () => Promise.reject(new Error('no feed'))
    const feed = createCandleFeed('BTC/USD', '1m', { read, subscribe: () => subscription })
    await pause(1)
    assert.deepEqual([feed.candles.value, String(feed.problem.value)], [null, 'Error: no feed'])
    feed.close()
  })

  it('are merged by their time', () => {
    const merged = mergeCandles(minutes(5, 3), [candle(5 * MINUTE_MS, '9'), candle(2 * MINUTE_MS, '8')])
    assert.deepEqual(
      merged.map(({ time, close }) => [time / MINUTE_MS, close]),
      [
        [2, '8'],
        [5, '9'],
        [6, '1'],
        [7, '1'],
      ],
    )
  })
})
