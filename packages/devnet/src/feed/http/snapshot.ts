import { MINUTE_MS } from '../levels.ts'
import { priceNumber } from '../price.ts'
import type { Prices } from '../prices.ts'

/** By pair index; `null` at an index nothing is listed under. */
type PriceColumn = (number | null)[]

/** `GET /charts`: the running one-minute candle of every pair, and its index price. */
export function snapshot(prices: Prices): object {
  const length = Math.max(...prices.pairs.map((pair) => pair.index)) + 1
  const column = (): PriceColumn => Array.from({ length }, () => null)
  const [opens, highs, lows, closes, indexPrices] = [column(), column(), column(), column(), column()]
  const timeMs = prices.timeMs()
  for (const { index } of prices.pairs) {
    const [candle] = prices.candles(index, { fromMs: timeMs - (timeMs % MINUTE_MS), toMs: timeMs, minutes: 1 })
    if (candle === undefined) continue
    opens[index] = priceNumber(candle.open)
    highs[index] = priceNumber(candle.high)
    lows[index] = priceNumber(candle.low)
    closes[index] = priceNumber(candle.close)
    indexPrices[index] = priceNumber(prices.quote(index).index)
  }
  return { time: timeMs, opens, highs, lows, closes, indexPrices }
}
