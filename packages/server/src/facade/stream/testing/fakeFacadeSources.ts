import type { Address, CandleInterval, LogChannel } from '@bezel/protocol'
import { openAppendableLog } from '../../../journal/testing/appendableLog.ts'
import type { Tick } from '../../../market/feed/feed.ts'
import { createPublisher } from '../../../ground/publisher.ts'
import { usd } from '../../../market/testing/fixtures.ts'
import { createTimeSliced } from '../../../ground/timeSliced.ts'
import { ALICE, type FacadeWorld } from '../../testing/facadeWorld.ts'
import type { FacadeStreamSources } from '../channels/facadeChannel.ts'

/** Sources of the facade's channels that the test controls. */
export interface FakeFacadeSources {
  readonly sources: Omit<FacadeStreamSources, 'onError' | 'watch'>
  /** Sets mark prices, in USD by pair index, and publishes a tick. */
  tick(marks: Readonly<Record<number, number>>): void
  tellTrades(pairIndex: number): void
  tellCandles(pairIndexes: readonly number[]): void
  tellRepaired(pairIndex: number, interval: CandleInterval): void
  /** Appends to a trader's log. */
  append(channel: LogChannel, data: unknown, of?: { trader?: Address; isReverted?: boolean }): Promise<void>
}

export function createFakeFacadeSources({ reads, opened, market }: FacadeWorld): FakeFacadeSources {
  const log = openAppendableLog(opened.store, 'base')
  const ticks = createPublisher<Tick>()
  const trades = createPublisher<readonly { pairIndex: number; trade: never }[]>()
  const takenBack = createPublisher<void>()
  const changes = createPublisher<Iterable<number>>()
  const repaired = createPublisher<{ pairIndex: number; interval: CandleInterval }>()
  return {
    sources: {
      reads,
      log,
      feed: { onTick: ticks.subscribe },
      candles: { onChange: changes.subscribe, onRepaired: repaired.subscribe },
      trades: { onTrades: trades.subscribe, onTakenBack: (listener) => takenBack.subscribe(listener) },
      turns: createTimeSliced(),
    },
    tick(marks) {
      const { nowMs, quotes } = market
      const told = Object.entries(marks).map(([pair, price]) => {
        const times = { updatedAtMs: nowMs }
        return { pairIndex: Number(pair), mark: usd(price), index: usd(price), ...times }
      })
      for (const quote of told) quotes.set(quote.pairIndex, quote)
      market.version += 1
      ticks.publish({ timeMs: nowMs, receivedAtMs: nowMs, quotes: told })
    },
    tellTrades: (pairIndex) => trades.publish([{ pairIndex, trade: undefined as never }]),
    tellCandles: (pairIndexes) => changes.publish(pairIndexes),
    tellRepaired: (pairIndex, interval) => repaired.publish({ pairIndex, interval }),
    append: (channel, data, { trader = ALICE, isReverted = false } = {}) =>
      log.append(trader, [{ channel, timestampMs: 1, block: null, isReverted, data: JSON.stringify(data) }]),
  }
}
