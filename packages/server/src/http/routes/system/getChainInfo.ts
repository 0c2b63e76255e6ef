import {
  AddressSchema,
  ChainSlugSchema,
  EMPTY_BODY_HASH,
  HexSchema,
  REQUEST_FIELDS,
  requestDomain,
  type Address,
  type ChainSlug,
} from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import { type ServedChain, servedChainOf } from '../../../chain/servedChain.ts'
import { defineRoute } from '../../route.ts'

const ChainInfo = Type.Object(
  {
    chain: ChainSlugSchema,
    chainId: Type.Integer(),
    diamond: AddressSchema,
    relayer: Type.Union([AddressSchema, Type.Null()]),
    testnet: Type.Boolean(),
    signing: Type.Object({
      domain: Type.Object({
        name: Type.String(),
        version: Type.String(),
        chainId: Type.Integer(),
        verifyingContract: AddressSchema,
      }),
      fields: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
      emptyBodyHash: HexSchema,
    }),
  },
  { title: 'ChainInfo' },
)

/** The context of the chain route. */
export interface SystemContext {
  readonly chains: readonly ServedChain[]
  readonly domainName: string
  /** Returns the relayer's address, or `null` where the facade is read-only. */
  readonly relayerOf: (slug: ChainSlug) => Address | null
}

export const getChainInfoRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain',
  operationId: 'getChainInfo',
  tag: 'System',
  access: 'public',
  summary: 'Reads the chain data that a client needs for signing',
  errors: [],
  responses: { 200: ChainInfo },
  handler: async (context: SystemContext, { params }) =>
    chainInfo(servedChainOf(context.chains, params.chain), context),
})

function chainInfo(chain: ServedChain, { domainName, relayerOf }: SystemContext): Static<typeof ChainInfo> {
  const { slug, chainId, diamond, testnet } = chain
  return {
    chain: slug,
    chainId,
    diamond,
    relayer: relayerOf(slug),
    testnet,
    signing: {
      domain: requestDomain({ name: domainName, chainId, diamond }),
      fields: [...REQUEST_FIELDS],
      emptyBodyHash: EMPTY_BODY_HASH,
    },
  }
}
