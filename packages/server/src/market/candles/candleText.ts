import { Price, parseDecimal, type Candle } from '@bezel/protocol'
import type { Ohlc } from '../feed/pages.ts'

/**
 * A candle as the store keeps it, without its time: `open,high,low,close`, or a single price when all four are equal.
 */
export type CandleText = string

export function candleText(ohlc: Ohlc): CandleText {
  if (isFlat(ohlc)) return Price.format(ohlc.open)
  return [ohlc.open, ohlc.high, ohlc.low, ohlc.close].map((price) => Price.format(price)).join(',')
}

export function parseCandleText(text: CandleText): Ohlc {
  const [open, high, low, close] = text.split(',').map(parsePrice)
  if (open === undefined) throw new Error(`the store holds ${JSON.stringify(text)} as a candle`)
  if (high === undefined || low === undefined || close === undefined) return flatOhlc(open)
  return { open, high, low, close }
}

/** Returns the JSON of a `Candle`, made directly from the stored text. */
export function candleJson(timeMs: number, text: CandleText): string {
  const [open, high = open, low = open, close = open] = text.split(',')
  return `{"time":${timeMs},"open":"${open}","high":"${high}","low":"${low}","close":"${close}"}`
}

export function candleOf(timeMs: number, text: CandleText): Candle {
  return JSON.parse(candleJson(timeMs, text)) as Candle
}

function parsePrice(text: string): Price {
  const decimal = parseDecimal(text)
  const price = decimal === undefined ? undefined : Price.parse(decimal)
  if (price === undefined) throw new Error(`the store holds ${JSON.stringify(text)} as a price of a candle`)
  return price
}

export function flatOhlc(price: Price): Ohlc {
  return { open: price, high: price, low: price, close: price }
}

export function isFlat({ open, high, low, close }: Ohlc): boolean {
  return high === low && open === close && open === high
}

/** Joins two stretches of time into one. They may overlap, as long as the later one ends later. */
export function joinOhlc(earlier: Ohlc | undefined, later: Ohlc | undefined): Ohlc | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  return {
    open: earlier.open,
    high: earlier.high > later.high ? earlier.high : later.high,
    low: earlier.low < later.low ? earlier.low : later.low,
    close: later.close,
  }
}
