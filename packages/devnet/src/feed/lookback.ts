import { DAY_MS } from '@bezel/protocol'
import { indexOf, type Market } from './markets.ts'
import { flatOhlc, joinOhlc, mapOhlc, type Ohlc } from './ohlc.ts'
import { ohlcBetween, priceAt } from './timeline.ts'

/** What an oracle answers for a time: first, highest, lowest and current price, 1e10. */
export interface LookbackCandle {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly current: bigint
}

export interface Lookback {
  readonly mark: LookbackCandle
  readonly index: LookbackCandle
}

/** Longer than any local chain lives; an older time is answered as if it were this long ago. */
const MAX_LOOKBACK_MS = 90 * DAY_MS

/** The candle from the price in force at `fromMs` to the one at `nowMs`, with everything published in between. */
export function lookBack({ pair, timeline }: Market, fromMs: number, nowMs: number): Lookback {
  const sinceMs = Math.min(nowMs, Math.max(Math.floor(fromMs), nowMs - MAX_LOOKBACK_MS))
  const before = flatOhlc(priceAt(timeline, sinceMs))
  const since = ohlcBetween(timeline, sinceMs + 1, nowMs + 1)
  const mark = since === undefined ? before : joinOhlc(before, since)
  return { mark: lookbackCandle(mark), index: lookbackCandle(mapOhlc(mark, (price) => indexOf(pair, price))) }
}

function lookbackCandle({ open, high, low, close }: Ohlc): LookbackCandle {
  return { open, high, low, current: close }
}
