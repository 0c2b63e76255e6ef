import type { FastifyBaseLogger } from 'fastify'
import { readRunningCandles, writeRunningCandles } from '../../store/candleStore.ts'
import type { Store } from '../../store/sql.ts'
import type { PairQuote } from '../../trading/market/chainMarkets.ts'
import type { Feed } from '../feed/feed.ts'
import type { FeedPages } from '../feed/pages.ts'
import { createPublisher } from '../../ground/publisher.ts'
import { LeaseLostError } from '../../ground/unavailable.ts'
import { createCandleReads, type CandleReads } from './candleReads.ts'
import { createEndedCandles, type EndedCandles } from './endedCandles.ts'
import { every as everyInterval, type Every } from '../../ground/every.ts'
import { createListeningSeries, type ListeningSeries } from './listeningSeries.ts'
import { startRepairs } from './repairs.ts'
import { lastQuotesOf, parseState, type RunningState, stateText } from './runningState.ts'
import { type Series, advanceSeries } from './series.ts'
import { createUpstream } from './upstream.ts'
import { parseCandleText } from './candleText.ts'
import { FLUSH_MS, UNWRITTEN_MS } from './limits.ts'

/** Candles of the mark prices. All chains share them, because there is one feed. */
export interface Candles extends CandleReads {
  /** Calls the listener with the pairs whose running candles changed. Returns a function that ends the subscription. */
  onChange(listener: (pairIndexes: readonly number[]) => void): () => void
  /**
   * Calls the listener with a series whose ended candles, or the running one, may have changed by a repair. Returns a
   * function that ends the subscription.
   */
  onRepaired(listener: (series: RepairedSeries) => void): () => void
  /**
   * Writes to this store from now on; `undefined` while another node writes. Default: the store of the options. What
   * was not written yet goes to the store that it leaves.
   */
  writeTo(store: Store | undefined): Promise<void>
  /** Stops listening to the feed and writes everything to the store. */
  close(): Promise<void>
}

export type RepairedSeries = Pick<Series, 'pairIndex' | 'interval'>

export interface CandlesOptions {
  readonly store: Store
  readonly feed: Pick<Feed, 'onHeard'>
  readonly pages: Pick<FeedPages, 'history'>
  /** Pause between two requests that repair candles. */
  readonly repairPauseMs: number
  /** Called with the last price of every pair that the store had at the start. */
  readonly onStored: (quotes: readonly PairQuote[]) => void
  readonly now: () => number
  readonly random: () => number
  /** Timer of the rounds. Default the clock of the process; tests pass their own. */
  readonly every?: Every
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

/** Starts the candles and returns at once. The stored state is read in the background, and reads wait for it. */
export function startCandles(options: CandlesOptions): Candles {
  const { store, feed, now, every = everyInterval } = options
  const changes = createPublisher<readonly number[]>()
  const repaired = createPublisher<RepairedSeries>()
  const ended = createEndedCandles(store)
  const sources = { upstream: createUpstream(options.pages), ended }
  const onError = (error: unknown): void => {
    // The node that leads now writes them.
    if (!(error instanceof LeaseLostError)) options.log.error({ err: error }, 'candles')
  }
  let listening: ListeningSeries | undefined
  let stopListening = (): void => undefined
  const loaded = load().catch(onError)
  const repairs = startRepairs({
    ...options,
    ...sources,
    pauseMs: options.repairPauseMs,
    every,
    onError,
    all: () => listening?.all() ?? [],
    onRepaired: repaired.publish,
  })
  const flushes = startFlushes({ store, ended, now, every, onError, state: () => stateOf(listening) })

  async function load(): Promise<void> {
    const text = await readRunningCandles(store.read)
    const kept = text === undefined ? undefined : parseState(text)
    options.onStored(lastQuotesOf(kept?.series ?? []))
    for (const one of kept?.series ?? []) await skipStored(one, ended, now())
    const series = createListeningSeries(kept, ended.put)
    stopListening = feed.onHeard((heard) => {
      const changed = [...series.hear(heard)]
      if (changed.length > 0) changes.publish(changed)
    })
    listening = series
  }

  async function seriesOnceLoaded(): Promise<ListeningSeries | undefined> {
    await loaded
    return listening
  }

  return {
    ...createCandleReads({ ...sources, now, repairs, listening: () => listening ?? seriesOnceLoaded() }),
    onChange: changes.subscribe,
    onRepaired: repaired.subscribe,
    writeTo: flushes.writeTo,
    async close() {
      await loaded
      stopListening()
      repairs.close()
      await flushes.close()
    },
  }
}

function stateOf(listening: ListeningSeries | undefined): RunningState | undefined {
  const clockMs = listening?.clockMs()
  return listening === undefined || clockMs === undefined ? undefined : { clockMs, series: listening.all() }
}

/**
 * Moves a stored series on to its first candle that is not in the store. A process can be killed after its ended
 * candles were written and before the state without them was; the older state would end them again, with only the ticks
 * it had. Candles that have not ended by the local clock are left alone.
 */
async function skipStored(series: Series, ended: Pick<EndedCandles, 'read'>, nowMs: number): Promise<void> {
  while (series.timeMs + series.widthMs <= nowMs) {
    const [stored] = await ended.read({ ...series, fromMs: series.timeMs, toMs: series.timeMs })
    if (stored === undefined) return
    series.before = parseCandleText(stored)
    advanceSeries(series, series.timeMs + series.widthMs, () => undefined)
  }
}

/** Writes candles to the store: ended candles first, then the running state, which no longer contains them. */
interface Flushes extends Pick<Candles, 'writeTo'> {
  /** Writes one last time. */
  close(): Promise<void>
}

interface FlushesOptions {
  readonly store: Store
  readonly ended: EndedCandles
  /** Returns the state to write; `undefined` before the feed's first frame. */
  readonly state: () => RunningState | undefined
  readonly now: () => number
  readonly every: Every
  readonly onError: (error: unknown) => void
}

function startFlushes({ store, ended, state, now, every, onError }: FlushesOptions): Flushes {
  let last: Promise<void> = Promise.resolve()
  let target: Store | undefined = store
  const rounds = every(FLUSH_MS, () => flush().catch(onError))

  async function write(): Promise<void> {
    const to = target
    if (to === undefined) return ended.forgetUnwritten(now() - UNWRITTEN_MS)
    // The state is taken first: candles that end during the write belong to the next flush.
    const current = state()
    const text = current === undefined ? undefined : stateText(current)
    await ended.flush(now(), to)
    if (text !== undefined) await to.transaction({ name: 'candles' }, (sql) => writeRunningCandles(sql, text))
  }

  function flush(): Promise<void> {
    const work = last.then(write)
    last = work.catch(() => undefined)
    return work
  }

  return {
    async writeTo(next) {
      if (target !== undefined && next === undefined) await flush().catch(onError)
      target = next
    },
    async close() {
      await rounds.close()
      await flush().catch(onError)
    },
  }
}
