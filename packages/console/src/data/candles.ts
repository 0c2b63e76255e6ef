import type { BezelClient, Candle, CandleInterval, CandlesEvent, StreamSubscription } from '@bezel/sdk'
import { signal, type ReadonlySignal } from '@preact/signals'
import { follow } from './follow.ts'

/** The candles of a market: history and the live last one. */
export interface CandleFeed {
  /** Candles, oldest first; null until the first ones are there. */
  readonly candles: ReadonlySignal<readonly Candle[] | null>
  /** The error that keeps candles away; null while all is well. */
  readonly problem: ReadonlySignal<unknown>
  /** True once there is nothing older. */
  readonly isComplete: ReadonlySignal<boolean>
  /** Reads the 500 candles before the oldest one. A call while one is under way does nothing. */
  loadOlder(): Promise<void>
  /** Ends the feed. The service limits the number of open ones. */
  close(): void
}

/** Parts of the service that a feed of candles needs. */
export interface CandleSource {
  readonly read: BezelClient['markets']['candles']
  readonly subscribe: () => StreamSubscription<CandlesEvent>
}

const MINUTE_MS = 60_000

/** Widths of candles in milliseconds, the narrowest first. */
const CANDLE_WIDTH_MS: Readonly<Record<CandleInterval, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
}

/** Candles of one read. */
const PAGE = 500

/** Opens the candles of a market over a source. */
export function createCandleFeed(symbol: string, interval: CandleInterval, source: CandleSource): CandleFeed {
  const widthMs = CANDLE_WIDTH_MS[interval]
  const candles = signal<readonly Candle[] | null>(null)
  const problem = signal<unknown>(null)
  const isComplete = signal(false)
  const stopping = new AbortController()
  let loading: Promise<void> | undefined

  function take(more: readonly Candle[]): void {
    if (!stopping.signal.aborted) candles.value = mergeCandles(candles.peek() ?? [], more)
  }

  async function readNewest(): Promise<void> {
    try {
      take(await source.read(symbol, { interval }))
      problem.value = null
    } catch (error) {
      problem.value = error
    }
  }

  async function readOlder(oldest: Candle): Promise<void> {
    try {
      const to = oldest.time - widthMs
      const older = await source.read(symbol, { interval, from: Math.max(0, to - (PAGE - 1) * widthMs), to })
      isComplete.value = !older.some(({ time }) => time < oldest.time)
      take(older)
      problem.value = null
    } catch (error) {
      problem.value = error
    }
  }

  function onEvent({ data, snapshot }: CandlesEvent): void {
    const last = candles.peek()?.at(-1)
    // After a long outage there is a hole before what the snapshot has.
    const isHole = snapshot && last !== undefined && data[0] !== undefined && data[0].time > last.time + widthMs
    take(data)
    if (isHole) void readNewest()
  }

  void readNewest()
  void follow(source.subscribe, onEvent, {
    signal: stopping.signal,
    onError(error) {
      if (error !== null) problem.value = error
    },
  })
  return {
    candles,
    problem,
    isComplete,
    async loadOlder() {
      const oldest = candles.peek()?.[0]
      if (oldest === undefined || isComplete.peek()) return
      loading ??= readOlder(oldest).finally(() => (loading = undefined))
      await loading
    },
    close: () => stopping.abort(),
  }
}

/** Returns both lists as one, oldest first. A candle of the second list replaces that of the same time. */
export function mergeCandles(before: readonly Candle[], more: readonly Candle[]): readonly Candle[] {
  const [last, first] = [before.at(-1), more[0]]
  if (first === undefined) return before
  // The usual case: a new state of the last candle, or one more.
  if (more.length === 1 && last !== undefined && first.time >= last.time) {
    return first.time === last.time ? [...before.slice(0, -1), first] : [...before, first]
  }
  const byTime = new Map([...before, ...more].map((candle) => [candle.time, candle]))
  return [...byTime.values()].toSorted((a, b) => a.time - b.time)
}
