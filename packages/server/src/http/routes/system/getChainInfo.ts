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
import type { FastifyInstance } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'

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

/** What a chain says of itself comes from here. */
export interface SystemContext {
  readonly chains: readonly ServedChain[]
  readonly domainName: string
  /** `null`: the facade only reads there. */
  readonly relayerOf: (slug: ChainSlug) => Address | null
}

/** GET /v1/{chain}: what a client must know before it can sign. */
export function getChainInfo(app: FastifyInstance, of: SystemContext): void {
  const schema = { operationId: 'getChainInfo', response: { 200: ChainInfo } }
  app.get<{ Params: { chain: string } }>('/v1/:chain', { schema }, async (request) =>
    chainInfo(servedChainOf(of.chains, request.params.chain), of),
  )
}

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
