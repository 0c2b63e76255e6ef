import { FeedUnavailableError, type FeedPages, type Ohlc } from '../feed/pages.ts'
import { MAX_REQUESTS, MAX_WAITING_REQUESTS } from './limits.ts'
import { flatOhlc, isFlat } from './candleText.ts'

/** Candles by the time they begin. */
export type CandlesByTime = ReadonlyMap<number, Ohlc>

interface MergeInput {
  /** Begin of the first ended candle; `toMs` is the begin of the last one. */
  readonly fromMs: number
  readonly toMs: number
  readonly widthMs: number
  /** Candles of the upstream, which may leave out those without ticks. */
  readonly history: CandlesByTime
  /** Stored candles of the same stretch and the candle before it. */
  readonly own: CandlesByTime
}

/** The upstream's history, requested at most `MAX_REQUESTS` at a time. */
export interface Upstream {
  /**
   * Reads the candles that begin in the range; `undefined` where there is no history. Throws `FeedUnavailableError`.
   */
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

  /** Waits for a free request. The queue is limited, because anybody may ask for old candles. */
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

/**
 * Returns the candles to keep for a stretch that was not observed: the upstream's candle, else the own one, else a flat
 * candle at the close before it. An own candle that only carried a close carries the corrected close instead. There are
 * none before the first known candle.
 */
export function mergeHistory({ fromMs, toMs, widthMs, history, own }: MergeInput): CandlesByTime {
  const merged = new Map<number, Ohlc>()
  let ownClose = own.get(fromMs - widthMs)?.close
  let close = ownClose
  for (let ms = fromMs; ms <= toMs; ms += widthMs) {
    const kept = own.get(ms)
    const isCarried = kept === undefined || (isFlat(kept) && kept.close === ownClose)
    const carried = isCarried && close !== undefined ? flatOhlc(close) : kept
    const ohlc = history.get(ms) ?? carried
    if (ohlc !== undefined) merged.set(ms, ohlc)
    ownClose = kept?.close ?? ownClose
    close = ohlc?.close ?? close
  }
  return merged
}
