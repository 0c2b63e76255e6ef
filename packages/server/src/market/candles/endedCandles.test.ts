import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { createEndedCandles } from './endedCandles.ts'
import { KEPT_CANDLES } from './limits.ts'
import { flatOhlc } from './candleText.ts'

const MINUTE_MS = 60_000

const SERIES = { pairIndex: 4, widthMs: MINUTE_MS }

const NOW_MS = 1_794_700_800_000

const P10 = 10n ** 10n

describe('ended candles', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const range = (fromMs: number, toMs: number) => ({ ...SERIES, fromMs, toMs })
  async function rows(): Promise<number> {
    return (await opened.store.read.all('select * from candles')).length
  }

  it('are read back over the ends of rows, with holes where none is known', async () => {
    const ended = createEndedCandles(opened.store)
    const firstMs = NOW_MS - 100 * MINUTE_MS
    for (let at = 0; at < 100; at += 3)
      ended.put(SERIES, firstMs + at * MINUTE_MS, flatOhlc(Price.of(BigInt(at + 1) * P10)))
    const expected = Array.from({ length: 100 }, (_, at) => (at % 3 === 0 ? String(at + 1) : undefined))
    assert.deepEqual(await ended.read(range(firstMs, NOW_MS - MINUTE_MS)), expected, 'before they are written')
    await ended.flush(NOW_MS)
    assert.deepEqual(await ended.read(range(firstMs, NOW_MS - MINUTE_MS)), expected)
    const again = createEndedCandles(await opened.reopen())
    assert.deepEqual(await again.read(range(firstMs, NOW_MS - MINUTE_MS)), expected)
    assert.deepEqual(await again.read(range(firstMs + 3 * MINUTE_MS, firstMs + 4 * MINUTE_MS)), ['4', undefined])
    again.put(SERIES, firstMs + MINUTE_MS, {
      open: Price.of(1n),
      high: Price.of(3n),
      low: Price.of(1n),
      close: Price.of(2n),
    })
    await again.flush(NOW_MS)
    assert.equal((await createEndedCandles(opened.store).read(range(firstMs, firstMs)))[0], '1', 'a row keeps the rest')
  })

  it('are forgotten by the store when they are older than what is kept', async () => {
    const ended = createEndedCandles(opened.store)
    const oldMs = NOW_MS - (KEPT_CANDLES - 60) * MINUTE_MS
    ended.put(SERIES, oldMs, flatOhlc(Price.of(P10)))
    await ended.flush(NOW_MS)
    assert.equal(await rows(), 1)
    const laterMs = NOW_MS + 240 * MINUTE_MS
    ended.put(SERIES, laterMs, flatOhlc(Price.of(P10)))
    ended.put(SERIES, oldMs + MINUTE_MS, flatOhlc(Price.of(P10)))
    await ended.flush(laterMs)
    assert.equal(await rows(), 1, 'and what is older is not written')
    assert.deepEqual(await ended.read(range(oldMs, oldMs + MINUTE_MS)), ['1', '1'], 'but stays in memory')
  })

  it('are not kept for writing when another node has written them long ago', async () => {
    const ended = createEndedCandles(opened.store)
    ended.put(SERIES, NOW_MS, flatOhlc(Price.of(P10)))
    ended.put(SERIES, NOW_MS + MINUTE_MS, flatOhlc(Price.of(2n * P10)))
    ended.forgetUnwritten(NOW_MS + MINUTE_MS + 1)
    await ended.flush(NOW_MS)
    const stored = await createEndedCandles(opened.store).read(range(NOW_MS, NOW_MS + MINUTE_MS))
    assert.deepEqual(stored, [undefined, '2'])
  })

  it('are written the next time when the store does not take them', async () => {
    let isDown = true
    const store = {
      ...opened.store,
      transaction: (scope: never, work: never) =>
        isDown ? Promise.reject(new Error('full')) : opened.store.transaction(scope, work),
    } as typeof opened.store
    const ended = createEndedCandles(store)
    ended.put(SERIES, NOW_MS, flatOhlc(Price.of(P10)))
    await assert.rejects(ended.flush(NOW_MS), /full/)
    ended.put(SERIES, NOW_MS + MINUTE_MS, flatOhlc(Price.of(2n * P10)))
    isDown = false
    await ended.flush(NOW_MS)
    assert.deepEqual(await createEndedCandles(opened.store).read(range(NOW_MS, NOW_MS + MINUTE_MS)), ['1', '2'])
  })
})
