/** First, highest, lowest and last price of a stretch of time, 1e10. */
export interface Ohlc {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly close: bigint
}

export function flatOhlc(price: bigint): Ohlc {
  return { open: price, high: price, low: price, close: price }
}

export function isFlat({ open, high, low, close }: Ohlc): boolean {
  return high === low && open === close && open === high
}

/** Two stretches as one. They may overlap, as long as the later one ends later. */
export function joinOhlc(earlier: Ohlc | undefined, later: Ohlc | undefined): Ohlc | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  return {
    open: earlier.open,
    high: earlier.high > later.high ? earlier.high : later.high,
    low: earlier.low < later.low ? earlier.low : later.low,
    close: later.close,
  }
}
