import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Price } from '@bezel/protocol'
import { migrate } from '../../store/openStore.ts'
import type { Store } from '../../store/sql.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import type { Heard } from '../feed/feed.ts'
import { FLUSH_MS } from './limits.ts'
import { startCandles } from './startCandles.ts'

const START_MS = 28_000_000 * 60_000
const MINUTE_MS = 60_000

/** Starts candles over an upstream without history, in a process that the test ends. */
async function start(opened: TestStore, store: Store, now: () => number) {
  let hear = (_heard: Heard): void => undefined
  let flush = async (): Promise<void> => undefined
  const candles = startCandles({
    store,
    now,
    random: () => 0,
    onStored: () => undefined,
    repairPauseMs: 0,
    feed: { onHeard: (listener) => ((hear = listener), () => undefined) },
    pages: { history: async () => undefined },
    every(intervalMs, work) {
      if (intervalMs === FLUSH_MS) flush = async () => work()
      return { close: async () => undefined }
    },
    log: { error: (fault: unknown) => assert.fail(String(fault)) },
  })
  await opened.quiet()
  const tick = (timeMs: number, price: number): void =>
    hear({ timeMs, receivedAtMs: timeMs, connection: 1, marks: [[0, Price.of(BigInt(price) * 10n ** 10n)]] })
  return { candles, tick, flush: () => flush() }
}

it('a candle that is written whole stays so, also when the process is killed before it has written the rest', async () => {
  const opened = openTestStore()
  await migrate(opened.store)
  let nowMs = START_MS
  let writes = Infinity
  const killed: Store = {
    ...opened.store,
    read: opened.store.read,
    transaction: (scope, work) => (writes-- > 0 ? opened.store.transaction(scope, work) : new Promise(() => undefined)),
  }
  const first = await start(opened, killed, () => nowMs)
  const second = (at: number): number => (nowMs = START_MS + at * 1_000)
  for (let at = 0; at <= 55; at += 1) first.tick(second(at), 100)
  await first.flush()
  for (let at = 56; at <= 61; at += 1) first.tick(second(at), at < 60 ? 150 : 101)
  writes = 1
  void first.flush()
  await opened.quiet()

  const again = await start(opened, opened.store, () => nowMs)
  for (let at = 62; at <= 130; at += 1) again.tick(second(at), 101)
  const bytes = await again.candles.list(0, { interval: '1m', fromMs: START_MS, toMs: START_MS + MINUTE_MS })
  const { data } = JSON.parse(bytes.toString()) as { data: { open: string; high: string; close: string }[] }
  assert.deepEqual(
    data.map(({ open, high, close }) => [open, high, close]),
    [
      ['100', '150', '150'],
      ['101', '101', '101'],
    ],
  )
  await again.candles.close()
  await opened.remove()
})
