import {
  AddressSchema,
  ChainSlugSchema,
  EMPTY_BODY_HASH,
  HexSchema,
  REQUEST_FIELDS,
  requestDomain,
} from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { servedChainOf } from '../../servedChainOf.ts'

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

/** GET /v1/{chain}: what a client must know before it can sign. */
export function getChainInfo(app: FastifyInstance, of: { chains: readonly ServedChain[]; domainName: string }): void {
  const schema = { operationId: 'getChainInfo', response: { 200: ChainInfo } }
  app.get<{ Params: { chain: string } }>('/v1/:chain', { schema }, async (request) =>
    chainInfo(servedChainOf(of.chains, request.params.chain), of.domainName),
  )
}

function chainInfo(chain: ServedChain, domainName: string): Static<typeof ChainInfo> {
  const { slug, chainId, diamond, testnet } = chain
  return {
    chain: slug,
    chainId,
    diamond,
    // No chain has a relayer yet: it comes with the facade. Until then null tells clients that the facade is read-only.
    relayer: null,
    testnet,
    signing: {
      domain: requestDomain({ name: domainName, chainId, diamond }),
      fields: [...REQUEST_FIELDS],
      emptyBodyHash: EMPTY_BODY_HASH,
    },
  }
}
