import type { Ohlc } from './ohlc.ts'

/** The ticks of a stretch that is being listened to. Changed in place: this is the one thing that every tick of every pair touches. */
export interface Ticks extends Ohlc {
  open: bigint
  high: bigint
  low: bigint
  close: bigint
  openedAtMs: number
  closedAtMs: number
}

/** Counts a tick in, by its time: one that comes out of order moves neither the open nor the close it is not. */
export function addTick(ticks: Ticks | undefined, price: bigint, timeMs: number): Ticks {
  if (ticks === undefined) {
    return { open: price, high: price, low: price, close: price, openedAtMs: timeMs, closedAtMs: timeMs }
  }
  if (price > ticks.high) ticks.high = price
  else if (price < ticks.low) ticks.low = price
  if (timeMs >= ticks.closedAtMs) {
    ticks.close = price
    ticks.closedAtMs = timeMs
  } else if (timeMs < ticks.openedAtMs) {
    ticks.open = price
    ticks.openedAtMs = timeMs
  }
  return ticks
}
