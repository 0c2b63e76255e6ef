import { CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import { openTestStore, type TestStore } from '../../../store/testStore.ts'
import { migrate } from '../../../store/migrate.ts'
import type { Heard } from '../../feed.ts'
import { FeedUnavailableError, type CandleRange } from '../../feed/pages.ts'
import { createListeners } from '../../listeners.ts'
import { FLUSH_MS } from '../limits.ts'
import type { CandlesByTime } from '../mergeHistory.ts'
import { startCandles, type Candles } from '../startCandles.ts'
import { referenceCandles, type PublishedTick } from './referenceCandles.ts'

/** How the upstream answers for its history. `sparse` leaves out candles without ticks. */
export type UpstreamMood = 'full' | 'sparse' | 'none' | 'down'

/** A feed that a test publishes ticks on, and candles that hear them while they are connected. Nothing happens by itself. */
export interface CandleWorld {
  nowMs: number
  mood: UpstreamMood
  /** Answers of the upstream wait until it is false again. */
  isSlow: boolean
  readonly published: PublishedTick[]
  /** Those that were heard. */
  readonly heard: PublishedTick[]
  isConnected: boolean
  /** The latest time that was published, by a tick or a heartbeat. */
  clockMs: number
  readonly asked: CandleRange[]
  candles(): Candles
  /** Ticks of one instant; none is a heartbeat. `timeMs` is the feed's own, else `nowMs`. */
  publish(marks: readonly (readonly [number, bigint])[], timeMs?: number): void
  connect(): void
  /** Lets everything that waits come to an end. */
  settle(): Promise<void>
  flush(): Promise<void>
  /** As a crash does: only what was flushed is left. */
  kill(): Promise<void>
  list(pairIndex: number, interval: CandleInterval, fromMs: number, toMs?: number): Promise<readonly Candle[]>
  close(): Promise<void>
}

export async function createCandleWorld(startMs: number): Promise<CandleWorld> {
  const opened: TestStore = openTestStore()
  await migrate(opened.store)
  const listeners = createListeners<Heard>()
  const waiting: (() => void)[] = []
  let connection = 0
  let tasks: { readonly everyMs: number; readonly work: () => void }[] = []
  let stop = (): void => undefined
  let running = start()

  function start(): Candles {
    tasks = []
    return startCandles({
      store: opened.store,
      feed: { onHeard: (listener) => (stop = listeners.add(listener)) },
      pages: { history },
      now: () => world.nowMs,
      random: () => 0,
      every: (everyMs, work) => {
        tasks.push({ everyMs, work })
        return () => undefined
      },
      log: {
        error: (fault: unknown) => {
          throw fault
        },
      } as never,
    })
  }

  async function history(pairIndex: number, range: CandleRange): Promise<CandlesByTime | undefined> {
    world.asked.push(range)
    const { mood } = world
    const answer = mood === 'full' || mood === 'sparse' ? pageOf(pairIndex, range, mood) : undefined
    if (world.isSlow) await new Promise<void>((go) => waiting.push(go))
    if (mood === 'down') throw new FeedUnavailableError('down')
    return answer
  }

  function pageOf(pairIndex: number, { fromS, toS, minutes }: CandleRange, mood: UpstreamMood): CandlesByTime {
    const ticks = world.published.filter((tick) => tick.pairIndex === pairIndex)
    const all = referenceCandles(ticks, minutes * 60_000, world.clockMs)
    const page = [...all].filter(([timeMs]) => timeMs >= fromS * 1_000 && timeMs <= toS * 1_000)
    return new Map(page.filter(([, { isTicked }]) => isTicked || mood === 'full'))
  }

  const world: CandleWorld = {
    nowMs: startMs,
    mood: 'full',
    isSlow: false,
    published: [],
    heard: [],
    isConnected: false,
    clockMs: 0,
    asked: [],
    candles: () => running,
    publish(marks, timeMs = world.nowMs) {
      const ticks = marks.map(([pairIndex, price]) => ({ pairIndex, price, timeMs }))
      world.published.push(...ticks)
      world.clockMs = Math.max(world.clockMs, timeMs)
      if (!world.isConnected) return
      world.heard.push(...ticks)
      listeners.tell({ timeMs, receivedAtMs: world.nowMs, connection, marks })
    },
    connect() {
      world.isConnected = true
      connection += 1
    },
    async settle() {
      for (let turn = 0; turn < 3; turn += 1) {
        for (const go of waiting.splice(0)) go()
        await new Promise(setImmediate)
      }
    },
    async flush() {
      for (const { everyMs, work } of tasks) if (everyMs === FLUSH_MS) work()
      // The store takes one transaction after the other, so this one is after the flush.
      await new Promise(setImmediate)
      await opened.store.transaction(async () => undefined)
      await new Promise(setImmediate)
      await opened.store.transaction(async () => undefined)
    },
    async kill() {
      stop()
      world.isConnected = false
      running = start()
      await new Promise(setImmediate)
    },
    async list(pairIndex, interval, fromMs, toMs = world.nowMs) {
      const widthMs = CANDLE_INTERVALS[interval]
      const earliestMs = Math.max(fromMs, toMs - 4_998 * widthMs)
      const bytes = await running.list(pairIndex, { interval, fromMs: earliestMs, toMs })
      return (JSON.parse(bytes.toString()) as { data: Candle[] }).data
    },
    async close() {
      stop()
      await opened.remove()
    },
  }
  await new Promise(setImmediate)
  return world
}
