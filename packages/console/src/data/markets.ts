import type { MarketPrice, MarketRecord } from '@bezel/protocol/wire'
import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { publicClient } from './client.ts'
import { createDayChanges } from './dayChange.ts'
import { follow } from './follow.ts'
import { connection, connectionWatch, publicStream } from './live.ts'
import { serverNow } from './now.ts'
import { createPriceBoard } from './priceBoard.ts'
import { browserStore, readStored, writeStored } from './storage.ts'

const listed = signal<readonly MarketRecord[] | null>(null)
const listProblem = signal<unknown>(null)

/** All markets of the active chain; null until they are read. They are read again every few seconds. */
export const markets: ReadonlySignal<readonly MarketRecord[] | null> = listed

/** The error that keeps the markets away; null while all is well. */
export const marketsProblem: ReadonlySignal<unknown> = listProblem

/** Returns a market by its symbol (`BTC/USD`); undefined while it is not known. Reads the signal. */
export function marketOf(symbol: string): MarketRecord | undefined {
  return listed.value?.find((market) => market.symbol === symbol)
}

const board = createPriceBoard((draw) => requestAnimationFrame(draw))

/** Returns the live price of a market. All markets share one subscription, and change once per animation frame. */
export const priceOf = (symbol: string): ReadonlySignal<MarketPrice | null> => board.priceOf(symbol)

const changes = createDayChanges({
  markOf: (symbol) => board.priceOf(symbol).value?.mark,
  readCandles: (symbol, range) => publicClient.peek().markets.candles(symbol, range),
  now: serverNow,
})

/** Returns the change of the mark over 24 hours as a fraction (`0.0123` is 1.23 %); null until it is known. */
export const changeOf = (symbol: string): ReadonlySignal<string | null> => changes.changeOf(symbol)

const FAVOURITES = 'favourites'
const stored = readStored(browserStore, FAVOURITES)
const chosen = signal<ReadonlySet<string>>(new Set(Array.isArray(stored) ? stored.map(String) : []))

/** Symbols of the favourite markets, kept in this browser. */
export const favourites: ReadonlySignal<ReadonlySet<string>> = chosen

/** Adds a market to the favourites, or removes it. */
export function toggleFavourite(symbol: string): void {
  const next = new Set(chosen.peek())
  if (!next.delete(symbol)) next.add(symbol)
  chosen.value = next
  writeStored(browserStore, FAVOURITES, [...next])
}

/** Returns the new list with the records of the old one where nothing changed, so that little is drawn again. */
export function keepUnchanged(
  before: readonly MarketRecord[] | null,
  after: readonly MarketRecord[],
): readonly MarketRecord[] {
  const known = new Map(before?.map((market) => [market.symbol, { market, text: JSON.stringify(market) }]))
  const merged = after.map((market) => {
    const old = known.get(market.symbol)
    return old?.text === JSON.stringify(market) ? old.market : market
  })
  const isSame = before?.length === merged.length && merged.every((market, place) => market === before[place])
  return isSame ? before : merged
}

const POLL_MS = 10_000

async function readMarkets(): Promise<void> {
  const client = publicClient.peek()
  try {
    const after = await client.markets.list()
    if (client !== publicClient.peek()) return
    listed.value = keepUnchanged(listed.peek(), after)
    listProblem.value = null
  } catch (error) {
    if (client === publicClient.peek()) listProblem.value = error
  }
}

/** Starts the list of markets and their prices, and follows the active chain with them. Returns how to stop. */
export function startMarkets(): () => void {
  const stopPrices = effect(() => {
    const stream = publicStream.value
    if (stream === null) return
    const stopping = new AbortController()
    untracked(() => {
      board.clear()
      listed.value = null
      changes.clear()
    })
    void readMarkets()
    const take = (prices: readonly MarketPrice[]): void => {
      connectionWatch.heard()
      board.take(prices)
    }
    void follow(
      () => stream.prices(),
      ({ data }) => take(data),
      { signal: stopping.signal },
    )
    return () => stopping.abort()
  })
  const stopRenewal = effect(() => {
    if (connection.value.state === 'live') void readMarkets()
  })
  const isSeen = (): boolean => document.visibilityState === 'visible'
  const timer = setInterval(() => {
    if (isSeen() && connection.peek().state !== 'down') void readMarkets().then(changes.renew)
  }, POLL_MS)
  return () => {
    stopPrices()
    stopRenewal()
    clearInterval(timer)
  }
}
