import type { CandleInterval, OrderBook, RecentTrade, Stream, TradesEvent } from '@bezel/sdk'
import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { createCandleFeed, type CandleFeed } from './candles.ts'
import { publicClient } from './client.ts'
import { follow } from './follow.ts'
import { publicStream } from './live.ts'

export type { CandleFeed } from './candles.ts'

/** Executions that are shown, as many as a snapshot of the service has. */
const MAX_TRADES = 100

/** Follows the depth of a market while the component is mounted; null until it is known. */
export function useBook(symbol: string): ReadonlySignal<OrderBook | null> {
  return useTopic<OrderBook>(symbol, (stream, book, signal) =>
    follow(
      () => stream.book(symbol),
      ({ data }) => (book.value = data),
      { signal },
    ),
  )
}

/** Follows the executions in a market while the component is mounted, newest first, at most 100; null at first. */
export function useTrades(symbol: string): ReadonlySignal<readonly RecentTrade[] | null> {
  return useTopic<readonly RecentTrade[]>(symbol, (stream, trades, signal) =>
    follow(
      () => stream.trades(symbol),
      (event) => (trades.value = withTrades(trades.peek(), event)),
      { signal },
    ),
  )
}

/** Opens the candles of a market. Close the feed when nobody sees it. */
export function openCandles(symbol: string, interval: CandleInterval): CandleFeed {
  const client = publicClient.peek()
  return createCandleFeed(symbol, interval, {
    read: client.markets.candles,
    subscribe: () => (publicStream.peek() ?? client.stream()).candles(symbol, interval),
  })
}

/** Returns the executions after an event, newest first. */
export function withTrades(
  before: readonly RecentTrade[] | null,
  { data, snapshot }: Pick<TradesEvent, 'data' | 'snapshot'>,
): readonly RecentTrade[] {
  return (snapshot ? data : [...data, ...(before ?? [])]).slice(0, MAX_TRADES)
}

/** Follows something of a market on the stream of the active chain, while the component is mounted. */
function useTopic<Value>(
  symbol: string,
  read: (stream: Stream, value: Signal<Value | null>, signal: AbortSignal) => Promise<void>,
): ReadonlySignal<Value | null> {
  const value = useSignal<Value | null>(null)
  const stream = publicStream.value
  useEffect(() => {
    value.value = null
    if (stream === null) return
    const stopping = new AbortController()
    void read(stream, value, stopping.signal)
    return () => stopping.abort()
  }, [symbol, stream])
  return value
}
