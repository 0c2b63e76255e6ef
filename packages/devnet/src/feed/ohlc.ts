/** First, highest, lowest and last price of a stretch of time, 1e10. */
export interface Ohlc {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

/** Of a stretch in which one price stood. */
export function flatOhlc(price: bigint): Ohlc {
  return { open: price, high: price, low: price, close: price }
}

/** Of two stretches, the first before the second. */
export function joinOhlc(first: Ohlc | undefined, second: Ohlc): Ohlc {
  if (first === undefined) return second
  return {
    open: first.open,
    high: first.high > second.high ? first.high : second.high,
    low: first.low < second.low ? first.low : second.low,
    close: second.close,
  }
}

/** With each price put through a function that keeps their order. */
export function mapOhlc({ open, high, low, close }: Ohlc, map: (price: bigint) => bigint): Ohlc {
  return { open: map(open), high: map(high), low: map(low), close: map(close) }
}
