import { useComputed, type ReadonlySignal } from '@preact/signals'
import { connection } from '../data/live.ts'
import { marketOf, priceOf } from '../data/markets.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { nowSecond } from '../ui/clock.ts'
import { marketStatus, type MarketStatus } from './marketStatus.ts'

const TONES: Readonly<Record<MarketStatus['kind'], Tone>> = {
  open: 'good',
  quiet: 'warn',
  closed: 'none',
  stale: 'bad',
  waiting: 'warn',
}

/** Says beside the price whether the market is open, and why its price may be old. Read out when it changes. */
export function MarketStatusText({ symbol }: { readonly symbol: string }) {
  const status = useMarketStatus(symbol).value
  return (
    <p class="market-status" role="status" data-testid="market-status" data-status={status?.kind}>
      {status !== null && <Badge tone={TONES[status.kind]}>{status.label}</Badge>}
      {status !== null && status.detail !== '' && <span class="market-status-detail">{status.detail}</span>}
    </p>
  )
}

/** The word for a market that is not simply open, for rows of lists; nothing for one that is. */
export function MarketStatusWord({ symbol }: { readonly symbol: string }) {
  const status = useMarketStatus(symbol).value
  if (status === null || status.kind === 'open' || status.kind === 'stale') return null
  return (
    <Badge tone={TONES[status.kind]} title={status.detail}>
      {status.label}
    </Badge>
  )
}

/** Returns the status of a market and keeps it up to date; `null` until the market is known. */
function useMarketStatus(symbol: string): ReadonlySignal<MarketStatus | null> {
  const text = useComputed(() => {
    const market = marketOf(symbol)
    if (market === undefined) return null
    const nowMs = nowSecond.value
    const status = marketStatus({
      isOpen: market.isOpen,
      pricedAtMs: priceOf(symbol).value?.updatedAt ?? null,
      group: market.group,
      staleSinceMs: connection.value.staleSinceMs,
      nowMs,
    })
    return JSON.stringify(status)
  })
  // As text in between, so that whoever shows it is drawn again only when a word has changed.
  return useComputed(() => (text.value === null ? null : (JSON.parse(text.value) as MarketStatus)))
}
