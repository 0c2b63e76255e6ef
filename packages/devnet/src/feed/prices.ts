import { PAIRS, type LocalPair } from '../listing/pairs.ts'
import { candlesOf, type FeedCandle, type CandleSpan, lookBack, type Lookback } from './candles.ts'
import { TICK_MS } from './spanTree.ts'
import { createFeedMarkets, quoteOf, type FeedMarket, type Quote } from './markets.ts'
import { parseFeedPrice } from './price.ts'
import { applyControl, isTimelineOpen, isToldAt, type Control } from './timeline.ts'

/**
 * The prices published at one instant: at a tick those of the open markets whose price changed or is frozen, between
 * two ticks that of a market whose price was set.
 */
export interface PublishedTick {
  readonly timeMs: number
  readonly quotes: readonly Quote[]
}

export type PublishedTickListener = (tick: PublishedTick) => void

/** The prices of all chains. Pair indices and symbols that are not listed throw `FeedInputError`. */
export interface Prices {
  readonly pairs: readonly LocalPair[]
  /** Returns the latest published instant, to which all other members refer. */
  timeMs(): number
  /** Returns mark and index of a market, 1e10. */
  quote(pairIndex: number): Quote
  isOpen(pairIndex: number): boolean
  candleSince(pairIndex: number, fromMs: number): Lookback
  candles(pairIndex: number, range: CandleSpan): readonly FeedCandle[]
  /** Sets the price, from which the walk continues. Published at once, even while frozen, asleep or closed. */
  setPrice(symbol: string, price: string): void
  /** Freezes a market, which then keeps publishing the same price. */
  freeze(symbol: string, frozen: boolean): void
  /**
   * Sends a market to sleep: its price stands still and is not published, also when it is frozen. Or wakes it, and then
   * it has no naps of its own either.
   */
  sleep(symbol: string, asleep: boolean): void
  /** Opens or closes a market; `null` goes back to its hours. */
  setMarketOpen(symbol: string, open: boolean | null): void
  /** Adds a listener and returns a function that removes it. */
  onTick(listener: PublishedTickListener): () => void
  /** Publishes every tick that is due by the clock. The timer of `start` calls it; tests call it themselves. */
  advance(): void
  start(): void
  stop(): void
}

interface PricesOptions {
  readonly seed: number
  /** Clock in epoch milliseconds. */
  readonly now: () => number
  readonly pairs?: readonly LocalPair[]
}

/**
 * Ticks published one by one after the machine slept. Older ones are skipped live; the history has them all the same.
 */
const MAX_LATE_TICKS = 240

/** Creates the live state of the feed: the latest published instant, and the markets' timelines up to it. */
export function createPrices({ seed, now, pairs = PAIRS }: PricesOptions): Prices {
  const markets = createFeedMarkets(pairs, seed)
  const listeners = new Set<PublishedTickListener>()
  let timeMs = Math.floor(now() / TICK_MS) * TICK_MS
  let timer: NodeJS.Timeout | undefined

  function publish(instantMs: number, published: readonly FeedMarket[]): void {
    timeMs = instantMs
    const tick = { timeMs: instantMs, quotes: published.map((market) => quoteOf(market, instantMs)) }
    for (const listener of listeners) listener(tick)
  }

  function advance(): void {
    const due = Math.floor(now() / TICK_MS)
    const next = Math.floor(timeMs / TICK_MS) + 1
    const first = Math.max(next, due - MAX_LATE_TICKS + 1)
    for (let tick = first; tick <= due; tick += 1) {
      // After skipped ticks all open markets are published, since any of them may have changed in between.
      const isDue = tick === first && first > next ? isTimelineOpen : isToldAt
      publish(
        tick * TICK_MS,
        markets.all.filter(({ timeline }) => isDue(timeline, tick * TICK_MS)),
      )
    }
  }

  function control(symbol: string, change: Control): void {
    const market = markets.bySymbol(symbol)
    advance()
    const instantMs = Math.max(timeMs, Math.floor(now()))
    applyControl(market.timeline, instantMs, change)
    timeMs = instantMs
    if (market.timeline.segments.at(-1)?.announced) publish(instantMs, [market])
  }

  function start(): void {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        start()
        advance()
      },
      TICK_MS - (now() % TICK_MS),
    )
  }

  return {
    pairs,
    timeMs: () => timeMs,
    quote: (pairIndex) => quoteOf(markets.byIndex(pairIndex), timeMs),
    isOpen: (pairIndex) => isTimelineOpen(markets.byIndex(pairIndex).timeline, timeMs),
    candleSince: (pairIndex, fromMs) => lookBack(markets.byIndex(pairIndex), fromMs, timeMs),
    candles: (pairIndex, range) => candlesOf(markets.byIndex(pairIndex).timeline, range, timeMs),
    setPrice: (symbol, price) => control(symbol, { price: parseFeedPrice(price) }),
    freeze: (symbol, frozen) => control(symbol, { frozen }),
    sleep: (symbol, asleep) => control(symbol, { asleep }),
    setMarketOpen: (symbol, open) => control(symbol, { forcedOpen: open }),
    onTick: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    advance,
    start,
    stop: () => clearTimeout(timer),
  }
}
