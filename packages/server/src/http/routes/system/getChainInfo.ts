import {
  AGENT_AUTHORIZATION_FIELDS,
  AGENT_REVOCATION_FIELDS,
  API_KEY_ISSUE_FIELDS,
  ChainInfoSchema,
  EMPTY_BODY_HASH,
  REQUEST_FIELDS,
  requestDomain,
  type Address,
  type ChainInfo,
  type ChainSlug,
} from '@bezel/protocol'
import { type ServedChain, servedChainOf } from '../../../chain/servedChain.ts'
import type { KnownSince } from '../../../follower/chainKnowledge.ts'
import { defineRoute } from '../../route.ts'

/** The context of the chain route. */
export interface SystemContext {
  readonly chains: readonly ServedChain[]
  readonly domainName: string
  /** Returns the relayer's address, or `null` where the facade is read-only. */
  readonly relayerOf: (slug: ChainSlug) => Address | null
  /** Returns the block since which the history of a chain is known; `undefined` while nothing is. */
  readonly knownSince: (slug: ChainSlug) => KnownSince | undefined
}

export const getChainInfoRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain',
  operationId: 'getChainInfo',
  tag: 'System',
  access: 'public',
  summary: 'Reads the chain data that a client needs for signing',
  description:
    'Read it once before the first signature: another deployment or chain has another domain. `signing.fields` is the struct of signed requests, `signing.types` has those that the wallet of the trader signs.',
  errors: [],
  responses: { 200: ChainInfoSchema },
  handler: async (context: SystemContext, { params }) =>
    chainInfo(servedChainOf(context.chains, params.chain), context),
})

function chainInfo(chain: ServedChain, { domainName, relayerOf, knownSince }: SystemContext): ChainInfo {
  const { slug, chainId, diamond, testnet } = chain
  const known = knownSince(slug)
  return {
    chain: slug,
    chainId,
    diamond,
    relayer: relayerOf(slug),
    testnet,
    knownSince: known === undefined ? null : { block: known.block, timestamp: known.timestampMs },
    signing: {
      domain: requestDomain({ name: domainName, chainId, diamond }),
      fields: [...REQUEST_FIELDS],
      emptyBodyHash: EMPTY_BODY_HASH,
      types: {
        AgentAuthorization: [...AGENT_AUTHORIZATION_FIELDS],
        AgentRevocation: [...AGENT_REVOCATION_FIELDS],
        ApiKeyIssue: [...API_KEY_ISSUE_FIELDS],
      },
    },
  }
}
