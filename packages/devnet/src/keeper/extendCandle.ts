import type { AnswerPrices } from '../oracle/packAnswer.ts'

/** A candle and the one that follows it, as one. */
export function extendCandle(candle: AnswerPrices | undefined, next: AnswerPrices): AnswerPrices {
  if (candle === undefined) return next
  return {
    open: candle.open,
    high: candle.high > next.high ? candle.high : next.high,
    low: candle.low < next.low ? candle.low : next.low,
    current: next.current,
  }
}
