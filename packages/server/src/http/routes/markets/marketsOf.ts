import type { ChainSlug } from '@bezel/protocol'
import { servedChainOf, type ServedChain } from '../../../chain/servedChain.ts'
import type { MarketReads } from '../../../market/marketReads.ts'

/** The context of the market routes. */
export interface MarketsContext {
  readonly chains: readonly ServedChain[]
  readonly markets: ReadonlyMap<ChainSlug, MarketReads>
}

/** Returns the market reads of the chain that a path names. Throws `CHAIN_NOT_FOUND`. */
export function marketsOf({ chains, markets }: MarketsContext, chain: string): MarketReads {
  const { slug } = servedChainOf(chains, chain)
  const reads = markets.get(slug)
  if (reads === undefined) throw new Error(`the markets of ${slug} are not watched`)
  return reads
}
