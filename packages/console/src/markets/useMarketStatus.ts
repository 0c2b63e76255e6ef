import { useComputed, type ReadonlySignal } from '@preact/signals'
import { connection } from '../data/live.ts'
import { marketOf, priceOf } from '../data/markets.ts'
import { nowSecond } from '../ui/clock.ts'
import { marketStatus, type MarketStatus } from './marketStatus.ts'
import { regularOpening } from '../ground/regularHours.ts'

/** Returns the status of a market and keeps it up to date; `null` until the market is known. */
export function useMarketStatus(symbol: string): ReadonlySignal<MarketStatus | null> {
  const text = useComputed(() => {
    const market = marketOf(symbol)
    if (market === undefined) return null
    const nowMs = nowSecond.value
    const status = marketStatus({
      isOpen: market.isOpen,
      pricedAtMs: priceOf(symbol).value?.updatedAt ?? null,
      opensAtMs: market.isOpen ? null : regularOpening(market.group, nowMs),
      staleSinceMs: connection.value.staleSinceMs,
      nowMs,
    })
    return JSON.stringify(status)
  })
  // As text in between, so that whoever shows it is drawn again only when a word has changed.
  return useComputed(() => (text.value === null ? null : (JSON.parse(text.value) as MarketStatus)))
}
