import { formatDecimal, parseDecimal, scaleDecimal, type Candle } from '@bezel/protocol'
import { flatOhlc, isFlat, type Ohlc } from './ohlc.ts'

const PRICE_DECIMALS = 10

/** A candle as the store has it, without its time: `open,high,low,close`, or the one price of a flat one. */
export type CandleText = string

export function candleText(ohlc: Ohlc): CandleText {
  if (isFlat(ohlc)) return formatDecimal(ohlc.open, PRICE_DECIMALS)
  return [ohlc.open, ohlc.high, ohlc.low, ohlc.close].map((price) => formatDecimal(price, PRICE_DECIMALS)).join(',')
}

export function parseCandleText(text: CandleText): Ohlc {
  const [open, high, low, close] = text.split(',').map(parsePrice)
  if (open === undefined) throw new Error(`the store holds ${JSON.stringify(text)} as a candle`)
  if (high === undefined || low === undefined || close === undefined) return flatOhlc(open)
  return { open, high, low, close }
}

/** The JSON of a `Candle`, straight from what is stored. */
export function candleJson(timeMs: number, text: CandleText): string {
  const [open, high = open, low = open, close = open] = text.split(',')
  return `{"time":${timeMs},"open":"${open}","high":"${high}","low":"${low}","close":"${close}"}`
}

export function candleOf(timeMs: number, text: CandleText): Candle {
  return JSON.parse(candleJson(timeMs, text)) as Candle
}

function parsePrice(text: string): bigint {
  const decimal = parseDecimal(text)
  const price = decimal === undefined ? undefined : scaleDecimal(decimal, PRICE_DECIMALS)
  if (price === undefined) throw new Error(`the store holds ${JSON.stringify(text)} as a price of a candle`)
  return price
}
