import type { Price } from '@bezel/protocol'
import type { Ohlc } from '../../feed/pages.ts'
import { flatOhlc, joinOhlc } from '../candleText.ts'

/** A tick as the feed published it. */
export interface PublishedTick {
  readonly pairIndex: number
  readonly timeMs: number
  readonly price: Price
}

export interface ReferenceCandle extends Ohlc {
  /** True when the candle has a tick; otherwise it carries the last close. */
  readonly isTicked: boolean
}

/**
 * Computes candles in the simplest way, afterwards from all ticks of a pair: by time, without gaps from the first tick
 * to `clockMs`.
 */
export function referenceCandles(
  ticks: readonly PublishedTick[],
  widthMs: number,
  clockMs: number,
): ReadonlyMap<number, ReferenceCandle> {
  const byTime = new Map<number, Ohlc>()
  for (const { timeMs, price } of ticks.toSorted((a, b) => a.timeMs - b.timeMs)) {
    const beginMs = timeMs - (timeMs % widthMs)
    byTime.set(beginMs, joinOhlc(byTime.get(beginMs), flatOhlc(price))!)
  }
  const candles = new Map<number, ReferenceCandle>()
  const [firstMs] = byTime.keys()
  if (firstMs === undefined) return candles
  let close = byTime.get(firstMs)!.open
  for (let ms = firstMs; ms <= clockMs; ms += widthMs) {
    const ohlc = byTime.get(ms)
    candles.set(ms, { ...(ohlc ?? flatOhlc(close)), isTicked: ohlc !== undefined })
    close = ohlc?.close ?? close
  }
  return candles
}
