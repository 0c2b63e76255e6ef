import type { FastifyBaseLogger } from 'fastify'
import { readRunningCandles } from '../../store/candleStore.ts'
import type { Store } from '../../store/sql.ts'
import type { Feed } from '../feed.ts'
import type { FeedPages } from '../feed/pages.ts'
import { createListeners } from '../../ground/listeners.ts'
import { createCandleReads, type CandleReads } from './candleReads.ts'
import { createEndedCandles } from './endedCandles.ts'
import { everyInterval, type Every } from './every.ts'
import { startFlushes } from './flushes.ts'
import { createListeningSeries, type ListeningSeries } from './listeningSeries.ts'
import { startRepairs } from './repairs.ts'
import { parseState, type RunningState } from './runningState.ts'
import type { Series } from './series.ts'
import { skipStored } from './skipStored.ts'
import { createUpstream } from './upstream.ts'

/** Mark prices over time, of all chains: there is one feed. */
export interface Candles extends CandleReads {
  /** Told the pairs whose running candles changed. Returns a function that ends it. */
  onChange(listener: (pairIndexes: readonly number[]) => void): () => void
  /** Told a series of which ended candles may be others than before, and the running one. Returns a function that ends it. */
  onRepaired(listener: (series: RepairedSeries) => void): () => void
  /** Writes everything down. */
  close(): Promise<void>
}

export type RepairedSeries = Pick<Series, 'pairIndex' | 'interval'>

export interface CandlesOptions {
  readonly store: Store
  readonly feed: Pick<Feed, 'onHeard'>
  readonly pages: Pick<FeedPages, 'history'>
  readonly now: () => number
  readonly random: () => number
  /** By the clock of the process, unless a test has another. */
  readonly every?: Every
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

/** Starts at once; what was kept is read in the background, and what is asked meanwhile waits for it. */
export function startCandles(options: CandlesOptions): Candles {
  const { store, feed, now, every = everyInterval } = options
  const changes = createListeners<readonly number[]>()
  const repaired = createListeners<RepairedSeries>()
  const ended = createEndedCandles(store)
  const sources = { upstream: createUpstream(options.pages), ended }
  const onError = (error: unknown): void => options.log.error({ err: error }, 'candles')
  let listening: ListeningSeries | undefined
  let stopListening = (): void => undefined
  const loaded = load().catch(onError)
  const repairs = startRepairs({
    ...options,
    ...sources,
    every,
    onError,
    all: () => listening?.all() ?? [],
    onRepaired: repaired.tell,
  })
  const flushes = startFlushes({ store, ended, now, every, onError, state: () => stateOf(listening) })

  async function load(): Promise<void> {
    const text = await readRunningCandles(store.read)
    const kept = text === undefined ? undefined : parseState(text)
    for (const one of kept?.series ?? []) await skipStored(one, ended, now())
    const series = createListeningSeries(kept, ended.put)
    stopListening = feed.onHeard((heard) => {
      const changed = [...series.hear(heard)]
      if (changed.length > 0) changes.tell(changed)
    })
    listening = series
  }

  async function seriesOnceLoaded(): Promise<ListeningSeries | undefined> {
    await loaded
    return listening
  }

  return {
    ...createCandleReads({ ...sources, now, repairs, listening: () => listening ?? seriesOnceLoaded() }),
    onChange: changes.add,
    onRepaired: repaired.add,
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
