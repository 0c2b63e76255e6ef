import { requestDomain, type Address, type ChainSlug, type SigningDomain } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { Store } from '../store/sql.ts'
import type { ChainAgents } from './chainAgents.ts'
import { createDelegates } from './delegates.ts'
import { openRegistry } from './registry.ts'

/** The agents of every chain. */
export async function startAgents(of: {
  readonly chains: readonly ServedChain[]
  readonly clientOf: (slug: ChainSlug) => RpcClient
  readonly store: Store
  readonly domainName: string
  /** `null`: the facade only reads. */
  readonly relayer: Address | null
  /** How long a look at a trader's delegate is good for. */
  readonly delegateMaxAgeMs: number
  readonly now: () => number
}): Promise<ReadonlyMap<ChainSlug, ChainAgents>> {
  const registry = await openRegistry(of.store)
  return new Map(
    of.chains.map((chain) => {
      const { slug, chainId, diamond } = chain
      const client = of.clientOf(slug)
      const domain: SigningDomain = requestDomain({ name: of.domainName, chainId, diamond })
      const delegates = createDelegates({ client, diamond, maxAgeMs: of.delegateMaxAgeMs, now: of.now })
      const relayer = chain.writes ? of.relayer : null
      return [slug, { chain, domain, registry, delegates, client, relayer }] as const
    }),
  )
}
