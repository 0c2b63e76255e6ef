import { Badge, type Tone } from '../ui/Badge.tsx'
import type { MarketStatus } from './marketStatus.ts'
import { useMarketStatus } from './useMarketStatus.ts'

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
