import { FeedUnavailableError, type FeedPages } from '../feed/pages.ts'
import { MAX_REQUESTS, MAX_WAITING_REQUESTS } from './limits.ts'
import type { CandlesByTime } from './mergeHistory.ts'

/** The upstream's history, a few requests at a time. */
export interface Upstream {
  /** Candles that begin in the range; `undefined` where there is no history. Throws `FeedUnavailableError`. */
  history(range: HistoryRange): Promise<CandlesByTime | undefined>
}

export interface HistoryRange {
  readonly pairIndex: number
  readonly widthMs: number
  readonly fromMs: number
  readonly toMs: number
}

const MINUTE_MS = 60_000

export function createUpstream(pages: Pick<FeedPages, 'history'>): Upstream {
  const waiting: (() => void)[] = []
  let underWay = 0

  /** Anybody may ask for anything that is old, so the line is not endless. */
  async function turn(): Promise<void> {
    if (underWay < MAX_REQUESTS) {
      underWay += 1
      return
    }
    if (waiting.length >= MAX_WAITING_REQUESTS) throw new FeedUnavailableError('too many requests wait for the history')
    await new Promise<void>((next) => waiting.push(next))
  }

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) underWay -= 1
    else next()
  }

  return {
    async history({ pairIndex, widthMs, fromMs, toMs }) {
      await turn()
      try {
        const range = { fromS: fromMs / 1_000, toS: toMs / 1_000, minutes: widthMs / MINUTE_MS }
        return await pages.history(pairIndex, range)
      } finally {
        leave()
      }
    },
  }
}
