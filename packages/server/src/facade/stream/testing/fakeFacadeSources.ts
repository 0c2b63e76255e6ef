import type { Address, CandleInterval, LogChannel } from '@bezel/protocol'
import { openAppendableLog } from '../../../journal/testing/appendableLog.ts'
import type { Tick } from '../../../market/feed.ts'
import { createListeners } from '../../../ground/listeners.ts'
import { usd } from '../../../market/testing/fixtures.ts'
import { createTurns } from '../../../ground/turns.ts'
import { ALICE, type FacadeWorld } from '../../testing/facadeWorld.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'

/** Sources of the facade's channels that say what the test says. */
export interface FakeFacadeSources {
  readonly sources: Omit<FacadeStreamSources, 'onError' | 'watch'>
  /** Moves marks, in USD by pair, and tells so. */
  tick(marks: Readonly<Record<number, number>>): void
  tellTrades(pairIndex: number): void
  tellCandles(pairIndexes: readonly number[]): void
  tellRepaired(pairIndex: number, interval: CandleInterval): void
  /** Appends to a trader's log. */
  append(channel: LogChannel, data: unknown, of?: { trader?: Address; isReverted?: boolean }): Promise<void>
}

export function createFakeFacadeSources({ reads, opened, market }: FacadeWorld): FakeFacadeSources {
  const log = openAppendableLog(opened.store, 'base')
  const ticks = createListeners<Tick>()
  const trades = createListeners<readonly { pairIndex: number; trade: never }[]>()
  const takenBack = createListeners<void>()
  const changes = createListeners<Iterable<number>>()
  const repaired = createListeners<{ pairIndex: number; interval: CandleInterval }>()
  return {
    sources: {
      reads,
      log,
      feed: { onTick: ticks.add },
      candles: { onChange: changes.add, onRepaired: repaired.add },
      trades: { onTrades: trades.add, onTakenBack: (listener) => takenBack.add(listener) },
      turns: createTurns(),
    },
    tick(marks) {
      const { nowMs, quotes } = market
      const told = Object.entries(marks).map(([pair, price]) => {
        const times = { updatedAtMs: nowMs, tickedAtMs: nowMs }
        return { pairIndex: Number(pair), mark: usd(price), index: usd(price), ...times }
      })
      for (const quote of told) quotes.set(quote.pairIndex, quote)
      market.version += 1
      ticks.tell({ timeMs: nowMs, receivedAtMs: nowMs, quotes: told })
    },
    tellTrades: (pairIndex) => trades.tell([{ pairIndex, trade: undefined as never }]),
    tellCandles: (pairIndexes) => changes.tell(pairIndexes),
    tellRepaired: (pairIndex, interval) => repaired.tell({ pairIndex, interval }),
    append: (channel, data, { trader = ALICE, isReverted = false } = {}) =>
      log.append(trader, [{ channel, timestampMs: 1, block: null, isReverted, data: JSON.stringify(data) }]),
  }
}
