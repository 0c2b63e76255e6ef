import type { Candle, CandleInterval, RecentTrade } from '@bezel/protocol'
import type { Tick, TickListener } from '../../market/feed/feed.ts'
import { createMarketReads } from '../../market/marketReads.ts'
import { createWorld, portsOf, usd, type MarketWorld } from '../../market/testing/fixtures.ts'
import type { PublicSources } from '../topics/publicSources.ts'

type Trade = { readonly pairIndex: number; readonly trade: RecentTrade }

/** Fake sources of the public channels, whose data the test sets. */
export interface FakeSources extends PublicSources {
  readonly world: MarketWorld
  /** Sets marks, in USD by pair, and publishes the tick. A pair with an unchanged mark is only confirmed. */
  tick(marks: Readonly<Record<number, number>>): void
  /** The trades that `list` returns, newest first. */
  stored: RecentTrade[]
  /** Announces trades, without storing them. */
  tellTrades(trades: readonly Trade[]): void
  tellTakenBack(): void
  /** The candles that `recent` returns; the last one is current. */
  candlesOf: Candle[]
  tellCandles(pairIndexes: readonly number[]): void
  tellRepaired(pairIndex: number, interval: CandleInterval): void
  /** Returns the number of listeners on all sources. */
  listeners(): number
}

export function createFakeSources(): FakeSources {
  const world = createWorld()
  const ports = portsOf(world)
  const ticks = new Set<TickListener>()
  const trades = new Set<(trades: readonly Trade[]) => void>()
  const takenBack = new Set<() => void>()
  const changes = new Set<(pairIndexes: Iterable<number>) => void>()
  const repaired = new Set<Parameters<PublicSources['candles']['onRepaired']>[0]>()
  const listen = <Listener>(to: Set<Listener>, listener: Listener): (() => void) => {
    to.add(listener)
    return () => to.delete(listener)
  }

  const sources: FakeSources = {
    world,
    markets: { ...createMarketReads(ports), watch: ports.watch },
    feed: { book: ports.book, onTick: (listener) => listen(ticks, listener) },
    stored: [],
    candlesOf: [],
    candles: {
      recent: async (_pair: number, _interval: CandleInterval, count) => sources.candlesOf.slice(-count),
      current: () => sources.candlesOf.at(-1),
      onChange: (listener) => listen(changes, listener),
      onRepaired: (listener) => listen(repaired, listener),
    },
    trades: {
      list: async (_pair, limit) => sources.stored.slice(0, limit),
      onTrades: (listener) => listen(trades, listener),
      onTakenBack: (listener) => listen(takenBack, listener),
    },
    tick(marks) {
      const nowMs = world.nowMs
      const quotes: Tick['quotes'] = Object.entries(marks).map(([pair, price]) => {
        const pairIndex = Number(pair)
        return { pairIndex, mark: usd(price), index: usd(price), updatedAtMs: nowMs }
      })
      for (const quote of quotes) world.quotes.set(quote.pairIndex, quote)
      world.version += 1
      for (const listener of ticks) listener({ timeMs: nowMs, receivedAtMs: nowMs, quotes })
    },
    tellTrades: (told) => trades.forEach((listener) => listener(told)),
    tellTakenBack: () => takenBack.forEach((listener) => listener()),
    tellCandles: (pairIndexes) => changes.forEach((listener) => listener(pairIndexes)),
    tellRepaired: (pairIndex, interval) => repaired.forEach((listener) => listener({ pairIndex, interval })),
    listeners: () => ticks.size + trades.size + takenBack.size + changes.size + repaired.size,
  }
  return sources
}
