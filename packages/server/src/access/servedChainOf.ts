import { ApiError } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'

/** The chain a path names. Throws `CHAIN_NOT_FOUND` also for a chain that exists but is not served here. */
export function servedChainOf(chains: readonly ServedChain[], slug: string): ServedChain {
  const chain = chains.find((candidate) => candidate.slug === slug)
  if (chain !== undefined) return chain
  const served = chains.map((candidate) => candidate.slug)
  throw new ApiError('CHAIN_NOT_FOUND', `This deployment serves ${served.join(', ')}.`, { chains: served })
}
