import type { ChainSlug } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { type ServedChain, servedChainOf } from '../../../chain/servedChain.ts'
import { ACTIONS } from '../../../facade/exchange/actions.ts'
import { answerEnvelope } from '../../../facade/exchange/exchange.ts'
import type { ExchangeParts } from '../../../facade/exchange/exchangeParts.ts'
import { MalformedEnvelope, readEnvelope } from '../../../facade/signing/envelope.ts'
import { networkOfRequest, originOf } from '../../hooks/registerHooks.ts'
import { recordLimitAnswer } from '../../../access/limits.ts'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import { defineRoute } from '../../route.ts'

/** Content type without a charset, because some clients refuse any other text. */
const JSON_TYPE = 'application/json'

const Envelope = Type.Object({
  action: Type.Object({ type: Type.Union(Object.keys(ACTIONS).map((name) => Type.Literal(name))) }),
  nonce: Type.Integer({
    description: 'Epoch milliseconds, within 60 s of server time, never used before by this signer.',
  }),
  signature: Type.Object({ r: Type.String(), s: Type.String(), v: Type.Integer() }),
  vaultAddress: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  expiresAfter: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
})

const Answer = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('err')]),
    response: Type.Unknown({
      description: 'An object with a `type` when the status is `ok`, a text when it is `err`.',
    }),
    delegationTx: Type.Optional(
      Type.Unknown({
        description: 'Transaction that the master wallet has to send once; `null` when there is nothing left to send.',
      }),
    ),
  },
  { title: 'ExchangeAnswer' },
)

/** The context of the route for the facade's actions. */
export interface HlExchangeContext {
  readonly chains: readonly ServedChain[]
  readonly exchangeOf: (chain: ChainSlug) => ExchangeParts
  readonly trustedProxies: number
}

export const hlExchangeRoute = defineRoute({
  method: 'POST',
  path: '/hl/:chain/exchange',
  operationId: 'hlExchange',
  tag: 'Hyperliquid compatibility',
  access: 'envelope',
  summary: 'Executes an action of the exchange-shaped facade, in an envelope signed as on that exchange',
  errors: ['CHAIN_READ_ONLY', 'UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  body: Envelope,
  // Each action checks its own fields.
  checksOwnBody: true,
  responses: { 200: Answer },
  async handler({ chains, exchangeOf, trustedProxies }: HlExchangeContext, request, reply) {
    const parts = exchangeOf(servedChainOf(chains, request.params.chain).slug)
    try {
      const envelope = readEnvelope(request.body as JsonValue)
      const answer = await answerEnvelope(parts, envelope, {
        network: networkOfRequest(request, trustedProxies),
        origin: originOf(request, trustedProxies),
        onCharge: (charged) => recordLimitAnswer(request, charged),
      })
      // Sent as bytes, because the framework adds a charset to the content type of a string.
      return await reply.type(JSON_TYPE).send(Buffer.from(JSON.stringify(answer)))
    } catch (error) {
      return refuseMalformed(error, reply)
    }
  },
})

function refuseMalformed(error: unknown, reply: FastifyReply): FastifyReply {
  if (!(error instanceof MalformedEnvelope)) throw error
  return reply.code(422).type('text/plain; charset=utf-8').send(error.message)
}
