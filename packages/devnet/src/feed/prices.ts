import { PAIRS, type ListedPair } from '../listing/pairs.ts'
import { candlesOf, type Candle, type CandleRange } from './candles.ts'
import { TICK_MS } from './levels.ts'
import { lookBack, type Lookback } from './lookback.ts'
import { createMarkets, quoteOf, type Market, type Quote } from './markets.ts'
import { parsePrice } from './price.ts'
import { applyControl, isTimelineOpen, type Control } from './timeline.ts'

/** What was published at one instant: all open markets at a tick, or one market whose price was set in between. */
export interface Tick {
  readonly timeMs: number
  readonly quotes: readonly Quote[]
}

export type TickListener = (tick: Tick) => void

/** The prices of all chains. Pair indices and symbols that are not listed throw `FeedInputError`. */
export interface Prices {
  readonly pairs: readonly ListedPair[]
  /** The latest published instant: what every other member speaks of. */
  timeMs(): number
  /** Mark and index, 1e10. */
  quote(pairIndex: number): Quote
  isOpen(pairIndex: number): boolean
  candleSince(pairIndex: number, fromMs: number): Lookback
  candles(pairIndex: number, range: CandleRange): readonly Candle[]
  /** From now on the walk continues relative to this price. Published at once, also while frozen or closed. */
  setPrice(symbol: string, price: string): void
  /** A frozen market keeps ticking the same price. */
  freeze(symbol: string, frozen: boolean): void
  /** `null` goes back to the market's hours. */
  setMarketOpen(symbol: string, open: boolean | null): void
  /** Returns a function that ends it. */
  onTick(listener: TickListener): () => void
  /** Publishes every tick that is due by the clock. The timer of `start` calls it; tests do themselves. */
  advance(): void
  start(): void
  stop(): void
}

interface PricesOptions {
  readonly seed: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly pairs?: readonly ListedPair[]
}

/** After a longer sleep of the machine the ticks in between are not published one by one; history has them all the same. */
const MAX_LATE_TICKS = 240

/** The live state of the feed: which instant was published last, and the markets' timelines up to it. */
export function createPrices({ seed, now, pairs = PAIRS }: PricesOptions): Prices {
  const markets = createMarkets(pairs, seed)
  const listeners = new Set<TickListener>()
  let timeMs = Math.floor(now() / TICK_MS) * TICK_MS
  let timer: NodeJS.Timeout | undefined

  function publish(instantMs: number, published: readonly Market[]): void {
    timeMs = instantMs
    const tick = { timeMs: instantMs, quotes: published.map((market) => quoteOf(market, instantMs)) }
    for (const listener of listeners) listener(tick)
  }

  function advance(): void {
    const due = Math.floor(now() / TICK_MS)
    const next = Math.max(Math.floor(timeMs / TICK_MS) + 1, due - MAX_LATE_TICKS + 1)
    for (let tick = next; tick <= due; tick += 1) {
      publish(
        tick * TICK_MS,
        markets.all.filter(({ timeline }) => isTimelineOpen(timeline, tick * TICK_MS)),
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
    setPrice: (symbol, price) => control(symbol, { price: parsePrice(price) }),
    freeze: (symbol, frozen) => control(symbol, { frozen }),
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
