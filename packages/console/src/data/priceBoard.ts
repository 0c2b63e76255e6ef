import type { MarketPrice } from '@bezel/protocol/wire'
import { batch, signal, type ReadonlySignal, type Signal } from '@preact/signals'

/** The prices of all markets, each as a signal of its own, so that a tick draws only what shows this market. */
export interface PriceBoard {
  /** Returns the price of a market; null before the first one. */
  priceOf(symbol: string): ReadonlySignal<MarketPrice | null>
  /** Takes prices. They appear together with the next frame; of several ones of a market, the last. */
  take(prices: readonly MarketPrice[]): void
  /** Forgets all prices, as for another chain. */
  clear(): void
}

/** Creates a board. `onFrame` calls a function once before the next picture is drawn. */
export function createPriceBoard(onFrame: (draw: () => void) => void): PriceBoard {
  const signals = new Map<string, Signal<MarketPrice | null>>()
  const waiting = new Map<string, MarketPrice>()
  let isScheduled = false

  function signalOf(symbol: string): Signal<MarketPrice | null> {
    const known = signals.get(symbol)
    if (known !== undefined) return known
    const made = signal<MarketPrice | null>(waiting.get(symbol) ?? null)
    signals.set(symbol, made)
    return made
  }

  function draw(): void {
    isScheduled = false
    batch(() => {
      for (const [symbol, price] of waiting) signalOf(symbol).value = price
    })
    waiting.clear()
  }

  return {
    priceOf: signalOf,
    take(prices) {
      for (const price of prices) waiting.set(price.market, price)
      if (isScheduled || waiting.size === 0) return
      isScheduled = true
      onFrame(draw)
    },
    clear() {
      waiting.clear()
      batch(() => signals.forEach((price) => (price.value = null)))
    },
  }
}
