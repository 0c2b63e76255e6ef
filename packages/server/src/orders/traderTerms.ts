import type { Address } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { createLru } from '../ground/lru.ts'
import { ORDINARY_TERMS, type TraderTerms } from '../trading/valuation/chainState.ts'

/** The terms of traders as last read. Most traders have the ordinary ones, which are assumed until the first read. */
export interface KnownTerms {
  of(trader: Address, pairIndex: number): TraderTerms
  learn(trader: Address, pairIndex: number, terms: TraderTerms): void
}

/** Maximum number of traders' terms in memory. Forgetting them costs a second round trip, nothing else. */
const MAX_KNOWN_TERMS = 20_000

export function createKnownTerms(): KnownTerms {
  const known = createLru<string, TraderTerms>(MAX_KNOWN_TERMS)
  const keyOf = (trader: Address, pairIndex: number): string => `${trader} ${pairIndex}`
  return {
    of: (trader, pairIndex) => known.get(keyOf(trader, pairIndex)) ?? ORDINARY_TERMS,
    learn(trader, pairIndex, terms) {
      const key = keyOf(trader, pairIndex)
      if (isDeepStrictEqual(terms, ORDINARY_TERMS)) known.delete(key)
      else known.set(key, terms)
    },
  }
}
