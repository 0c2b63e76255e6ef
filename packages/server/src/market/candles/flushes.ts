import { writeRunningCandles } from '../../store/candleStore.ts'
import type { Store } from '../../store/sql.ts'
import type { EndedCandles } from './endedCandles.ts'
import type { Every } from './every.ts'
import { FLUSH_MS } from './limits.ts'
import { stateText, type RunningState } from './runningState.ts'

/** Writes candles down, ended ones before the state that does not have them any more. */
export interface Flushes {
  /** Writes a last time. */
  close(): Promise<void>
}

export interface FlushesOptions {
  readonly store: Store
  readonly ended: EndedCandles
  /** `undefined` before anything was heard. */
  readonly state: () => RunningState | undefined
  readonly now: () => number
  readonly every: Every
  readonly onError: (error: unknown) => void
}

export function startFlushes({ store, ended, state, now, every, onError }: FlushesOptions): Flushes {
  let last: Promise<void> = Promise.resolve()
  const stop = every(FLUSH_MS, () => flush().catch(onError))

  async function write(): Promise<void> {
    // Taken first: candles that end while others are written belong to the next time.
    const current = state()
    const text = current === undefined ? undefined : stateText(current)
    await ended.flush(now())
    if (text !== undefined) await store.transaction((sql) => writeRunningCandles(sql, text))
  }

  function flush(): Promise<void> {
    const work = last.then(write)
    last = work.catch(() => undefined)
    return work
  }

  return {
    async close() {
      stop()
      await flush().catch(onError)
    },
  }
}
