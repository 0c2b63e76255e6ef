import { CANDLE_INTERVALS, type Candle, type CandleInterval, type Price } from '@bezel/protocol'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import { migrate } from '../../../store/openStore.ts'
import type { PairQuote } from '../../../trading/market/chainMarkets.ts'
import type { Heard } from '../../feed/feed.ts'
import { createPublisher } from '../../../ground/publisher.ts'
import { FLUSH_MS, REPAIR_ROUND_MS } from '../limits.ts'
import { startCandles, type Candles } from '../startCandles.ts'
import { answerHistory, createUpstreamState, type UpstreamState } from './answerHistory.ts'

/**
 * A feed on which a test publishes ticks, and candles that receive them while they are connected. Nothing runs by
 * itself.
 */
export interface CandleWorld extends UpstreamState {
  nowMs: number
  isConnected: boolean
  /** The last prices that the store had at the start. */
  recalled: readonly PairQuote[]
  candles(): Candles
  /** Publishes ticks of one instant; an empty list is a heartbeat. `timeMs` is the feed's own time. Default `nowMs`. */
  publish(marks: readonly (readonly [number, Price])[], timeMs?: number): void
  connect(): void
  /** Releases everything that waits and lets it finish. */
  settle(): Promise<void>
  flush(): Promise<void>
  /** Becomes the node that writes, or leaves that to another. */
  setWriting(isWriting: boolean): Promise<void>
  /** Counts the rows of ended candles in the store. */
  storedRows(): Promise<number>
  /** Runs one background round of repairs. */
  round(): Promise<void>
  /** Moves the clock of the repair limits on by a minute, so that the upstream may be asked again. */
  rest(): void
  /** Restarts as after a crash: only what was flushed is left. */
  kill(): Promise<void>
  list(pairIndex: number, interval: CandleInterval, fromMs: number, toMs?: number): Promise<readonly Candle[]>
  close(): Promise<void>
}

/** `repairPauseMs` is the pause between two repairs. Default none, so that the test decides when they run. */
export async function createCandleWorld(startMs: number, repairPauseMs = 0): Promise<CandleWorld> {
  const opened = openTestStore()
  await migrate(opened.store)
  const listeners = createPublisher<Heard>()
  const waiting: (() => void)[] = []
  let [connection, restedMs] = [0, 0]
  let flush = async (): Promise<void> => undefined
  let round = async (): Promise<void> => undefined
  let stop = (): void => undefined
  let running = start()

  function start(): Candles {
    return startCandles({
      store: opened.store,
      feed: { onHeard: (listener) => (stop = listeners.subscribe(listener)) },
      pages: { history: (pairIndex, range) => answerHistory(world, pairIndex, range, waiting) },
      repairPauseMs,
      onStored: (quotes) => (world.recalled = quotes),
      now: () => world.nowMs + restedMs,
      random: () => 0,
      every(intervalMs, work) {
        if (intervalMs === FLUSH_MS) flush = async () => work()
        if (intervalMs === REPAIR_ROUND_MS) round = async () => work()
        return { close: async () => undefined }
      },
      log: { error: fail },
    })
  }

  const world: CandleWorld = {
    ...createUpstreamState(),
    nowMs: startMs,
    isConnected: false,
    recalled: [],
    candles: () => running,
    publish(marks, timeMs = world.nowMs) {
      const ticks = marks.map(([pairIndex, price]) => ({ pairIndex, price, timeMs }))
      world.published.push(...ticks)
      world.clockMs = Math.max(world.clockMs, timeMs)
      if (!world.isConnected) return
      listeners.publish({ timeMs, receivedAtMs: world.nowMs, connection, marks })
    },
    connect() {
      world.isConnected = true
      connection += 1
    },
    settle: () => letGo(waiting, opened),
    flush: () => flush(),
    setWriting: (isWriting) => running.writeTo(isWriting ? opened.store : undefined),
    storedRows: async () => (await opened.store.read.all('select 1 from candles')).length,
    round: () => round(),
    rest: () => void (restedMs += 60_000),
    async kill() {
      stop()
      world.isConnected = false
      running = start()
      await opened.quiet()
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
  await opened.quiet()
  return world
}

async function letGo(waiting: (() => void)[], opened: TestStore): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    for (const go of waiting.splice(0)) go()
    await opened.quiet()
  }
}

function fail(fault: unknown): never {
  throw fault
}
