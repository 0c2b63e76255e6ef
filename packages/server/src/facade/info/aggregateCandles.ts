import { scaleDecimalTruncated, type Candle, type Decimal } from '@bezel/protocol'
import { FACADE_INTERVALS, type FacadeInterval, type FacadeWidth } from './candleIntervals.ts'

const PRICE_DECIMALS = 10

/** Candles of the source, oldest first, joined to wider ones. Those that begin before `startMs` are left out. */
export function aggregate(source: readonly Candle[], interval: FacadeInterval, startMs: number): readonly Candle[] {
  const width: FacadeWidth = FACADE_INTERVALS[interval]
  if (width.sourceCount === 1) return source
  const joined: Candle[] = []
  for (const candle of source) {
    const time = width.beginOf(candle.time)
    const last = joined.at(-1)
    if (last?.time === time) joined[joined.length - 1] = join(last, candle)
    else if (time >= startMs) joined.push({ ...candle, time })
  }
  return joined
}

function join(earlier: Candle, later: Candle): Candle {
  return {
    time: earlier.time,
    open: earlier.open,
    high: isAbove(later.high, earlier.high) ? later.high : earlier.high,
    low: isAbove(earlier.low, later.low) ? later.low : earlier.low,
    close: later.close,
  }
}

function isAbove(a: string, b: string): boolean {
  return a !== b && scaled(a) > scaled(b)
}

function scaled(price: string): bigint {
  return scaleDecimalTruncated(price as Decimal, PRICE_DECIMALS)
}
