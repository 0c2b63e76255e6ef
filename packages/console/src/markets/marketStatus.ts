import type { MarketGroup } from '@bezel/protocol/wire'
import { closedWords } from '../ground/closedWords.ts'
import { formatAge, formatTime } from '../ground/format.ts'

/** Tells in words whether a market can be traded at its price. */
export interface MarketStatus {
  /** `quiet` is open with an old price, `stale` has no live connection, `waiting` has no price yet. */
  readonly kind: 'open' | 'quiet' | 'closed' | 'stale' | 'waiting'
  readonly label: string
  /** A sentence beside the price; empty for an open market with a fresh price. */
  readonly detail: string
}

export interface StatusInput {
  readonly isOpen: boolean
  /** Time of the last price; `null` while there is none. */
  readonly pricedAtMs: number | null
  /** Class of the market, which has the trading hours. */
  readonly group: MarketGroup
  /** Time of the last message of a lost connection; `null` while the connection is live. */
  readonly staleSinceMs: number | null
  /** Time by the clock of the service. */
  readonly nowMs: number
}

/** Age from which a price is old: the service then asks a second source before it opens a position. */
export const QUIET_MS = 60_000

/** Describes a market. A lost connection comes first, because then nothing else is certain. */
export function marketStatus(input: StatusInput): MarketStatus {
  const { isOpen, pricedAtMs, group, staleSinceMs, nowMs } = input
  if (staleSinceMs !== null) {
    const detail = `No connection. This is how it was at ${formatTime(staleSinceMs)}; it comes back by itself.`
    return { kind: 'stale', label: 'Not live', detail }
  }
  if (!isOpen) return { kind: 'closed', label: 'Closed', detail: closedWords(group, nowMs) }
  if (pricedAtMs === null) {
    return { kind: 'waiting', label: 'Open, no price', detail: 'The feed has not sent a price of this market yet.' }
  }
  if (nowMs - pricedAtMs < QUIET_MS) return { kind: 'open', label: 'Open', detail: '' }
  return { kind: 'quiet', label: 'Open, quiet', detail: `The last price came ${formatAge(pricedAtMs, nowMs)}.` }
}
