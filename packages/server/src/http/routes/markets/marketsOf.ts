import type { ChainSlug } from '@bezel/protocol'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { MarketReads } from '../../../market/marketReads.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'

/** What the routes of markets answer from. */
export interface MarketsContext {
  readonly chains: readonly ServedChain[]
  readonly markets: ReadonlyMap<ChainSlug, MarketReads>
}

/** The markets of the chain that a path names. Throws `CHAIN_NOT_FOUND`. */
export function marketsOf({ chains, markets }: MarketsContext, chain: string): MarketReads {
  const { slug } = servedChainOf(chains, chain)
  const reads = markets.get(slug)
  if (reads === undefined) throw new Error(`the markets of ${slug} are not watched`)
  return reads
}

export const JSON_TYPE = 'application/json; charset=utf-8'
