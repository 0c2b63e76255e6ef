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

/** Maximum number of traders' terms in memory. Forgetting them costs another read, nothing else. */
const MAX_KNOWN_TERMS = 20_000

/**
 * Age at which terms are read again although nobody asks for their trader. Governance changes them rarely; those of
 * watched and active traders are read with every round over accounts.
 */
const DUE_MS = 3_600_000

export function createKnownTerms(now: () => number): KnownTerms {
  const known = createLru<string, Read>(MAX_KNOWN_TERMS)
  const changes = createPublisher<TradedPair>()
  const keyOf = (trader: Address, pairIndex: number): string => `${trader} ${pairIndex}`
  const of = (trader: Address, pairIndex: number): TraderTerms =>
    known.get(keyOf(trader, pairIndex))?.terms ?? ORDINARY_TERMS

  return {
    of,
    learn(trader, pairIndex, { cumulVolPriceImpactMultiplier, fixedSpreadP }, askedAtMs = now()) {
      const key = keyOf(trader, pairIndex)
      if ((known.peek(key)?.askedAtMs ?? 0) > askedAtMs) return
      const before = of(trader, pairIndex)
      const isSame =
        before.cumulVolPriceImpactMultiplier === cumulVolPriceImpactMultiplier && before.fixedSpreadP === fixedSpreadP
      const terms = isSame ? before : { ...ORDINARY_TERMS, cumulVolPriceImpactMultiplier, fixedSpreadP }
      known.set(key, { terms, askedAtMs })
      if (!isSame) changes.publish({ trader, pairIndex })
    },
    isDue(trader, pairIndex) {
      const read = known.peek(keyOf(trader, pairIndex))
      return read === undefined || now() - read.askedAtMs >= DUE_MS
    },
    onChange: changes.subscribe,
  }
}
