import { parseCandleText } from './candleText.ts'
import type { EndedCandles } from './endedCandles.ts'
import { advanceSeries, type Series } from './series.ts'

/**
 * Moves a kept series on to its first candle that is not in the store. A process can be killed when its ended candles are written and the state
 * without them is not; the older state would end them again, as far as it had them. What has not ended by our clock is left alone.
 */
export async function skipStored(series: Series, ended: Pick<EndedCandles, 'read'>, nowMs: number): Promise<void> {
  while (series.timeMs + series.widthMs <= nowMs) {
    const [stored] = await ended.read({ ...series, fromMs: series.timeMs, toMs: series.timeMs })
    if (stored === undefined) return
    series.before = parseCandleText(stored)
    advanceSeries(series, series.timeMs + series.widthMs, () => undefined)
  }
}
