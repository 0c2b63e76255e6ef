import { ChainSlugSchema, Closed } from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { prefersHtml } from '../../negotiation.ts'
import { defineRoute } from '../../route.ts'

/** The context of the route of the root. */
export interface IndexContext {
  readonly chains: readonly ServedChain[]
  /** Answers a person: with the console, or with the way to it or to the documentation. */
  readonly sendHome: SendHome
}

export type SendHome = (
  request: Pick<FastifyRequest, 'headers' | 'socket' | 'url'>,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

/** The version of the interface, not of the program. */
export const INTERFACE_VERSION = '1.0.0'

const FacadeLinks = Closed(
  { info: Type.String(), exchange: Type.String(), stream: Type.String() },
  {
    info: 'Path of the reads of the facade.',
    exchange: 'Path of the signed actions of the facade.',
    stream: 'Path of the WebSocket of the facade.',
  },
  { title: 'FacadeLinks', description: 'Paths of the exchange-shaped facade of a chain.' },
)

const ChainLinks = Closed(
  {
    chain: ChainSlugSchema,
    chainId: Type.Integer(),
    testnet: Type.Boolean(),
    info: Type.String(),
    markets: Type.String(),
    prices: Type.String(),
    stream: Type.String(),
    facade: FacadeLinks,
  },
  {
    chain: 'Name of the chain in paths.',
    chainId: 'Id of the chain, as wallets know it.',
    testnet: 'True when the money on the chain has no worth.',
    info: 'Path of what a client needs for signing.',
    markets: 'Path of the list of markets.',
    prices: 'Path of the list of prices.',
    stream: 'Path of the WebSocket.',
    facade: 'Paths of the exchange-shaped facade.',
  },
  { title: 'ChainLinks', description: 'A chain that is served, with the paths to begin with.' },
)

const Index = Closed(
  {
    name: Type.Literal('Bezel'),
    version: Type.String(),
    chains: Type.Array(ChainLinks),
    docs: Type.String(),
    llms: Type.String(),
    openapi: Type.String(),
    asyncapi: Type.String(),
    health: Type.String(),
    ready: Type.String(),
    time: Type.String(),
  },
  {
    name: 'Name of the service.',
    version: 'Version of the interface, as in the OpenAPI document.',
    chains: 'Chains that this deployment serves.',
    docs: 'Path of the documentation for people.',
    llms: 'Path of the list of its pages as markdown, for language models.',
    openapi: 'Path of the OpenAPI document of the REST operations.',
    asyncapi: 'Path of the AsyncAPI document of the WebSocket.',
    health: 'Path of the sign of life.',
    ready: 'Path of the usability of each chain.',
    time: 'Path of the clock that timestamps of requests are compared with.',
  },
  { title: 'Index', description: 'The chains and the paths of a deployment. Paths are relative to its address.' },
)

export const getIndexRoute = defineRoute({
  method: 'GET',
  path: '/',
  operationId: 'getIndex',
  tag: 'System',
  access: 'public',
  summary: 'Lists the chains of this deployment and the paths to begin with',
  description:
    'One address for people and programs: a request whose `Accept` prefers `text/html` to `application/json`, as that of a browser does, gets the console, or is led to the documentation where there is none. It needs neither chain nor store.',
  errors: [],
  responses: { 200: Index },
  bodiless: {
    302: 'The client prefers HTML, and the console is not served here: `Location` is its own address, or the documentation.',
  },
  async handler({ chains, sendHome }: IndexContext, request, reply) {
    reply.header('Vary', 'Accept')
    return prefersHtml(request.headers.accept) ? sendHome(request, reply) : indexOf(chains)
  },
})

function indexOf(chains: readonly ServedChain[]): Static<typeof Index> {
  return {
    name: 'Bezel',
    version: INTERFACE_VERSION,
    chains: chains.map(({ slug, chainId, testnet }) => ({
      chain: slug,
      chainId,
      testnet,
      info: `/v1/${slug}`,
      markets: `/v1/${slug}/markets`,
      prices: `/v1/${slug}/prices`,
      stream: `/v1/${slug}/ws`,
      facade: { info: `/hl/${slug}/info`, exchange: `/hl/${slug}/exchange`, stream: `/hl/${slug}/ws` },
    })),
    docs: '/docs',
    llms: '/llms.txt',
    openapi: '/openapi.json',
    asyncapi: '/asyncapi.json',
    health: '/health',
    ready: '/ready',
    time: '/v1/time',
  }
}
