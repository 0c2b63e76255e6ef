import { flatOhlc, isFlat, type Ohlc } from './ohlc.ts'

/** Candles by the time they begin. */
export type CandlesByTime = ReadonlyMap<number, Ohlc>

export interface MergeInput {
  /** Of ended candles, both ends included. */
  readonly fromMs: number
  readonly toMs: number
  readonly widthMs: number
  /** What the upstream has. It may leave out candles without ticks. */
  readonly history: CandlesByTime
  /** What is kept, of the same stretch and the candle before it. */
  readonly own: CandlesByTime
}

/**
 * What to keep of a stretch that was not observed: the upstream's candle, else the own one, else the close before it carried on. An own
 * candle that itself only carried a close carries the corrected one. Before the first known candle there are none.
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
