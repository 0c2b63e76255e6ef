import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { migrate } from '../../store/migrate.ts'
import { openTestStore, type TestStore } from '../../store/testStore.ts'
import { until } from '@bezel/testkit/until.ts'
import { FeedUnavailableError } from '../feed/pages.ts'
import { createEndedCandles, type EndedRange } from './endedCandles.ts'
import { flatOhlc } from './ohlc.ts'
import { createReadEnded } from './readEnded.ts'
import type { HistoryRange } from './upstream.ts'

const WIDTH_MS = 60_000
const BASE_MS = 20_000_000 * WIDTH_MS

describe('old candles', () => {
  let opened: TestStore
  let pairs = 0

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  after(() => opened.remove())

  /** An upstream that has `prices` and answers when it is let. */
  function world(prices: ReadonlyMap<number, bigint> = new Map()) {
    const waiting: (() => void)[] = []
    const asked: HistoryRange[] = []
    const pairIndex = (pairs += 1)
    const upstream = {
      async history(range: HistoryRange) {
        asked.push(range)
        await new Promise<void>((go) => waiting.push(go))
        const known = [...prices].filter(([timeMs]) => timeMs >= range.fromMs && timeMs <= range.toMs)
        return new Map(known.map(([timeMs, price]) => [timeMs, flatOhlc(price)]))
      },
    }
    const read = createReadEnded({ upstream, ended: createEndedCandles(opened.store), now: () => 0 })
    /** Ten candles; each `n` is another stretch of time. */
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
