import { CANDLE_INTERVALS, type Candle } from '@bezel/protocol'
import { MAX_CANDLES } from '../../market/candles/limits.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { FACADE_INTERVALS, type FacadeInterval, type FacadeWidth } from './candleIntervals.ts'

/** What is asked for: candles that begin in `[startMs, endMs]`. */
export interface AskedCandles {
  readonly interval: FacadeInterval
  readonly startMs: number
  readonly endMs: number
}

/** Of days there are no more: that is more than 13 years. */
const MAX_DAYS = MAX_CANDLES

/** The candles that what is asked for is made of, oldest first. Throws `NOT_READY` and `UPSTREAM_UNAVAILABLE`. */
export async function readSourceCandles(
  { candles, now }: Pick<FacadeReads, 'candles' | 'now'>,
  pairIndex: number,
  { interval, startMs, endMs }: AskedCandles,
): Promise<readonly Candle[]> {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  const sourceMs = CANDLE_INTERVALS[width.source]
  const toMs = Math.min(width.endOf(width.beginOf(endMs)) - 1, now())
  const found: Candle[] = []
  // As many at a time as one read gives.
  for (let fromMs = firstMs(width, sourceMs, startMs, toMs); fromMs <= toMs; fromMs += MAX_CANDLES * sourceMs) {
    const partEndMs = Math.min(toMs, fromMs + MAX_CANDLES * sourceMs - 1)
    const bytes = await candles.list(pairIndex, { interval: width.source, fromMs, toMs: partEndMs })
    for (const candle of (JSON.parse(bytes.toString('latin1')) as { data: Candle[] }).data) found.push(candle)
  }
  return found
}

/** Clients that want all there is ask from the beginning of time. */
function firstMs(width: FacadeWidth, sourceMs: number, startMs: number, toMs: number): number {
  const count = width.source === '1d' ? MAX_DAYS : MAX_CANDLES * width.sourceCount
  const earliestMs = (Math.floor(toMs / sourceMs) - count + 1) * sourceMs
  const askedMs = Math.max(startMs, earliestMs, 0)
  const beginMs = width.beginOf(askedMs)
  // The candle that a time lies in begins before it, and is asked for only when it does not.
  return Math.max(0, beginMs === askedMs ? askedMs : width.endOf(beginMs))
}
