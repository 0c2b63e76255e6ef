import assert from 'node:assert/strict'
import { equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, after, before } from 'node:test'
import { Price } from '@bezel/protocol'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from '@bezel/testkit/until.ts'
import { createCandleWorld, type CandleWorld } from './testing/candleWorld.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { FeedUnavailableError } from '../feed/pages.ts'
import { createEndedCandles, type EndedRange } from './endedCandles.ts'
import { flatOhlc } from './candleText.ts'
import { createReadEnded } from './candleReads.ts'
import type { HistoryRange } from './upstream.ts'

const WIDTH_MS = 60_000

const BASE_MS = 20_000_000 * WIDTH_MS

const START_MS = Date.UTC(2026, 10, 14, 12, 0, 30)

const MINUTE_MS = 60_000

const RANGE = { interval: '1m', fromMs: START_MS - 100 * MINUTE_MS, toMs: START_MS + 100 * MINUTE_MS } as const

describe('answers of candles', () => {
  let world: CandleWorld
  beforeEach(async () => {
    world = await createCandleWorld(START_MS)
    world.connect()
    world.publish([[0, Price.of(100n * 10n ** 10n)]])
  })
  afterEach(() => world.close())

  const answer = (): Promise<Buffer> => world.candles().list(0, RANGE)

  // Hundreds of answers are cached: cut out of a shared block, each would keep the whole block in memory.
  it('are kept in memory of their own, when they are new and when a tick was added', async () => {
    const first = await answer()
    equal(await answer(), first, 'kept')
    equal(first.buffer.byteLength, first.length)
    world.publish([[0, Price.of(101n * 10n ** 10n)]], (world.nowMs += 1_000))
    const next = await answer()
    equal(next.toString('latin1').includes('"close":"101"'), true)
    equal(await answer(), next, 'kept')
    equal(next.buffer.byteLength, next.length)
  })

  it('of the last candles are forgotten when the next candle has begun', async () => {
    const gc = exposedGc()
    const recent = (): Promise<unknown> => world.candles().recent(0, '1m', 100)
    await recent()
    const first = new WeakRef(await lastCandles())
    equal(await lastCandles(), first.deref(), 'kept')
    world.publish([[0, Price.of(102n * 10n ** 10n)]], (world.nowMs += MINUTE_MS))
    await recent()
    await until('the answer of the minute before is gone', () => {
      gc()
      return first.deref() === undefined
    })
  })

  /** Returns the same answer that `recent` is made from. */
  function lastCandles(): Promise<Buffer> {
    const runningMs = world.nowMs - (world.nowMs % MINUTE_MS)
    return world.candles().list(0, { interval: '1m', fromMs: runningMs - 99 * MINUTE_MS, toMs: runningMs })
  }
})

function exposedGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

describe('old candles', () => {
  let opened: TestStore
  let pairs = 0

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  after(() => opened.remove())

  /** Creates a reader over an upstream that has `prices` and answers when the test releases it. */
  function world(prices: ReadonlyMap<number, bigint> = new Map()) {
    const waiting: (() => void)[] = []
    const asked: HistoryRange[] = []
    const pairIndex = (pairs += 1)
    const upstream = {
      async history(range: HistoryRange) {
        asked.push(range)
        await new Promise<void>((go) => waiting.push(go))
        const known = [...prices].filter(([timeMs]) => timeMs >= range.fromMs && timeMs <= range.toMs)
        return new Map(known.map(([timeMs, price]) => [timeMs, flatOhlc(Price.of(price))]))
      },
    }
    const read = createReadEnded({ upstream, ended: createEndedCandles(opened.store), now: () => 0 })
    /** Returns a range of ten candles; each `n` is another stretch of time. */
    const range = (n: number, length = 10): EndedRange => {
      const fromMs = BASE_MS - n * 7_000 * WIDTH_MS
      return { pairIndex, widthMs: WIDTH_MS, fromMs, toMs: fromMs + (length - 1) * WIDTH_MS }
    }
    const answer = async (count: number): Promise<void> => {
      await until(`${count} requests`, () => waiting.length >= count)
      for (const go of waiting.splice(0, count)) go()
    }
    return { read, range, asked, answer }
  }

  it('of one time wait for nobody who reads another', async () => {
    const { read, range, asked, answer } = world()
    const all = [1, 2, 3].map((n) => read(range(n)))
    await until('all are asked for', () => asked.length === 3)
    await answer(3)
    await Promise.all(all)
  })

  it('of one series are read by a bounded number, and the next one is refused', async () => {
    const { read, range, asked, answer } = world()
    const all = Array.from({ length: 8 }, (_, n) => read(range(n)))
    await until('they are asked for', () => asked.length === 8)
    await assert.rejects(read(range(8)), FeedUnavailableError)
    await answer(8)
    await Promise.all(all)
    const next = read(range(8))
    await answer(1)
    await next
  })

  it('that many want at once are asked for once', async () => {
    const { read, range, asked, answer } = world(new Map([[BASE_MS, 5n * 10n ** 10n]]))
    const all = Array.from({ length: 50 }, () => read(range(0)))
    await answer(1)
    for (const texts of await Promise.all(all)) assert.equal(texts[3], '5')
    assert.equal(asked.length, 1)
  })

  it('wait for who reads a part of them', async () => {
    const { read, range, asked, answer } = world(new Map([[BASE_MS, 5n * 10n ** 10n]]))
    const part = read(range(0))
    await until('it is asked for', () => asked.length === 1)
    const more = read(range(0, 15))
    await answer(1)
    await part
    await answer(1)
    await more
    assert.deepEqual([asked[1]!.fromMs, asked.length], [BASE_MS + 10 * WIDTH_MS, 2])
  })

  it('that the upstream does not have are not asked for again, of several times', async () => {
    const { read, range, asked, answer } = world()
    for (const n of [1, 2, 3]) {
      const reading = read(range(n))
      await answer(1)
      await reading
    }
    for (const n of [1, 2, 3, 1, 2, 3]) await read(range(n))
    assert.equal(asked.length, 3)
  })
})
