import { CANDLE_MINUTES, countCandles } from '../candles.ts'
import { FeedInputError, priceNumber } from '../price.ts'
import type { Prices } from '../prices.ts'
import { wholeNumber } from './wholeNumber.ts'

const MAX_CANDLES = 5_000

/** `GET /charts/{pairIndex}/{fromSec}/{toSec}/{minutes}`: candles that begin between the two times, both included. */
export function history(prices: Prices, [pairText, fromText, toText, minutesText]: readonly string[]): object {
  const pairIndex = wholeNumber('pairIndex', pairText)
  const minutes = wholeNumber('minutes', minutesText)
  const range = { fromMs: wholeNumber('from', fromText) * 1000, toMs: wholeNumber('to', toText) * 1000, minutes }
  if (!CANDLE_MINUTES.includes(minutes)) {
    throw new FeedInputError(`Candles are ${CANDLE_MINUTES.join(', ')} minutes wide, not ${minutes}.`)
  }
  if (range.fromMs > range.toMs) throw new FeedInputError('"from" is later than "to".')
  const count = countCandles({ ...range, toMs: Math.min(range.toMs, prices.timeMs()) })
  if (count > MAX_CANDLES) {
    throw new FeedInputError(`That range has ${count} candles; at most ${MAX_CANDLES} are answered at once.`)
  }
  return { table: prices.candles(pairIndex, range).map(chartRow) }
}

function chartRow({ timeMs, open, high, low, close }: ReturnType<Prices['candles']>[number]): object {
  return {
    time: timeMs,
    open: priceNumber(open),
    high: priceNumber(high),
    low: priceNumber(low),
    close: priceNumber(close),
  }
}
