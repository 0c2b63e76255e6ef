import type { Address } from '@bezel/protocol'
import { createLru } from '../../ground/lru.ts'
import { createPublisher } from '../../ground/publisher.ts'
import { ORDINARY_TERMS, type TraderTerms } from '../../trading/valuation/chainState.ts'

/** The terms that governance can give one trader in one pair (getUserPriceImpact). */
export type OwnTerms = Pick<TraderTerms, 'cumulVolPriceImpactMultiplier' | 'fixedSpreadP'>

/** A pair that a trader trades, in which it may have terms of its own. */
export interface TradedPair {
  readonly trader: Address
  readonly pairIndex: number
}

/**
 * The terms of traders as last read. Most traders have the ordinary ones, which are assumed until the first read. They
 * are in memory only: after a restart the first round over accounts reads those of all open positions again.
 */
export interface KnownTerms {
  of(trader: Address, pairIndex: number): TraderTerms
  /** Stores what a read found that was sent at `askedAtMs`, unless a later one is known. Default now. */
  learn(trader: Address, pairIndex: number, own: OwnTerms, askedAtMs?: number): void
  /** Returns true when they were not read for an hour, or never. */
  isDue(trader: Address, pairIndex: number): boolean
  /** Calls the listener when the terms of a trader in a pair differ from those before. */
  onChange(listener: (changed: TradedPair) => void): () => void
}

interface Read {
  readonly terms: TraderTerms
  readonly askedAtMs: number
}

/** Maximum number of reads that found ordinary terms in memory. Forgetting one costs another read, nothing else. */
const MAX_ORDINARY = 20_000

/**
 * Age at which terms are read again although nobody asks for their trader. Governance changes them rarely; those of
 * watched and active traders are read with every round over accounts.
 */
const DUE_MS = 3_600_000

export function createKnownTerms(now: () => number): KnownTerms {
  /** Times of the reads that found ordinary terms. */
  const ordinary = createLru<string, number>(MAX_ORDINARY)
  /** Own terms are few, and never forgotten: positions would be valued at ordinary ones until the next read. */
  const own = new Map<string, Read>()
  const changes = createPublisher<TradedPair>()
  const keyOf = (trader: Address, pairIndex: number): string => `${trader} ${pairIndex}`
  const askedAtOf = (key: string): number | undefined => own.get(key)?.askedAtMs ?? ordinary.peek(key)
  const of = (trader: Address, pairIndex: number): TraderTerms =>
    own.get(keyOf(trader, pairIndex))?.terms ?? ORDINARY_TERMS

  return {
    of,
    learn(trader, pairIndex, found, askedAtMs = now()) {
      const key = keyOf(trader, pairIndex)
      if ((askedAtOf(key) ?? 0) > askedAtMs) return
      const before = of(trader, pairIndex)
      if (isSame(ORDINARY_TERMS, found)) {
        own.delete(key)
        ordinary.set(key, askedAtMs)
      } else {
        ordinary.delete(key)
        own.set(key, { terms: isSame(before, found) ? before : { ...ORDINARY_TERMS, ...found }, askedAtMs })
      }
      if (!isSame(before, found)) changes.publish({ trader, pairIndex })
    },
    isDue(trader, pairIndex) {
      const askedAtMs = askedAtOf(keyOf(trader, pairIndex))
      return askedAtMs === undefined || now() - askedAtMs >= DUE_MS
    },
    onChange: changes.subscribe,
  }
}

function isSame(a: OwnTerms, b: OwnTerms): boolean {
  return a.cumulVolPriceImpactMultiplier === b.cumulVolPriceImpactMultiplier && a.fixedSpreadP === b.fixedSpreadP
}
