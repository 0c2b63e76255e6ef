import { CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import { openTestStore } from '../../../store/testStore.ts'
import { migrate } from '../../../store/migrate.ts'
import type { Heard } from '../../feed.ts'
import { createListeners } from '../../../ground/listeners.ts'
import { FLUSH_MS, REPAIR_PAUSE_MS } from '../limits.ts'
import { startCandles, type Candles } from '../startCandles.ts'
import { answerHistory, type UpstreamState } from './answerHistory.ts'

/** A feed that a test publishes ticks on, and candles that hear them while they are connected. Nothing happens by itself. */
export interface CandleWorld extends UpstreamState {
  nowMs: number
  isConnected: boolean
  candles(): Candles
  /** Ticks of one instant; none is a heartbeat. `timeMs` is the feed's own, else `nowMs`. */
  publish(marks: readonly (readonly [number, bigint])[], timeMs?: number): void
  connect(): void
  /** Lets everything that waits come to an end. */
  settle(): Promise<void>
  flush(): Promise<void>
  /** Reads what was missed, as it is done every now and then without being asked. */
  round(): Promise<void>
  /** The upstream may be asked again as often as ever. */
  rest(): void
  /** As a crash does: only what was flushed is left. */
  kill(): Promise<void>
  list(pairIndex: number, interval: CandleInterval, fromMs: number, toMs?: number): Promise<readonly Candle[]>
  close(): Promise<void>
}

export async function createCandleWorld(startMs: number): Promise<CandleWorld> {
  const opened = openTestStore()
  await migrate(opened.store)
  const listeners = createListeners<Heard>()
  const waiting: (() => void)[] = []
  let connection = 0
  let flush = async (): Promise<void> => undefined
  let round = async (): Promise<void> => undefined
  let restedMs = 0
  let stop = (): void => undefined
  let running = start()

  function start(): Candles {
    return startCandles({
      store: opened.store,
      feed: { onHeard: (listener) => (stop = listeners.add(listener)) },
      pages: { history: (pairIndex, range) => answerHistory(world, pairIndex, range, waiting) },
      now: () => world.nowMs + restedMs,
      random: () => 0,
      every(everyMs, work) {
        if (everyMs === FLUSH_MS) flush = async () => work()
        if (everyMs === REPAIR_PAUSE_MS) round = async () => work()
        return () => undefined
      },
      log: { error: fail },
    })
  }

  const world: CandleWorld = {
    nowMs: startMs,
    mood: 'full',
    isSlow: false,
    published: [],
    isConnected: false,
    clockMs: 0,
    asked: [],
    candles: () => running,
    publish(marks, timeMs = world.nowMs) {
      const ticks = marks.map(([pairIndex, price]) => ({ pairIndex, price, timeMs }))
      world.published.push(...ticks)
      world.clockMs = Math.max(world.clockMs, timeMs)
      if (!world.isConnected) return
      listeners.tell({ timeMs, receivedAtMs: world.nowMs, connection, marks })
    },
    connect() {
      world.isConnected = true
      connection += 1
    },
    settle: () => letGo(waiting),
    flush: () => flush(),
    round: () => round(),
    rest: () => void (restedMs += 60_000),
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

async function letGo(waiting: (() => void)[]): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    for (const go of waiting.splice(0)) go()
    await new Promise(setImmediate)
  }
}

function fail(fault: unknown): never {
  throw fault
}
