import { Annotated, Nullable, OneOf, type ChainSlug } from '@bezel/protocol'
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
  action: Type.Object(
    { type: Annotated(OneOf(Object.keys(ACTIONS)), { description: 'Kind of the action.' }) },
    { description: 'The action. Its other fields are those of the exchange.' },
  ),
  nonce: Type.Integer({
    description: 'Epoch milliseconds, within 60 s of server time, never used before by this signer.',
  }),
  signature: Type.Object(
    {
      r: Type.String({ description: 'First half of the signature, at most 32 bytes.' }),
      s: Type.String({ description: 'Second half of the signature, at most 32 bytes.' }),
      v: Type.Integer({ description: 'Recovery value: 0, 1, 27 or 28.' }),
    },
    { description: "Signature of the action in the exchange's own scheme." },
  ),
  vaultAddress: Type.Optional(
    Annotated(Nullable(Type.String()), {
      description: 'Not supported: there are no vaults. Default: none.',
      examples: [null],
    }),
  ),
  expiresAfter: Type.Optional(
    Annotated(Nullable(Type.Integer()), {
      description: 'Time in epoch milliseconds from which the action is refused. Default: none.',
    }),
  ),
})

const Answer = Type.Object(
  {
    status: Annotated(OneOf(['ok', 'err']), { description: '`err` when the action was refused.' }),
    response: Type.Unknown({
      description: 'An object with a `type` when the status is `ok`, a text when it is `err`.',
    }),
    delegationTx: Type.Optional(
      Type.Unknown({
        description: 'Transaction that the master wallet has to send once; `null` when there is nothing left to send.',
      }),
    ),
  },
  { title: 'ExchangeAnswer', description: 'The answer in the shape of the exchange.' },
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
  description:
    'Refusals of an action are answers with `status` `err` and a text; a malformed envelope is 422 in plain text. `delegationTx` is there while the trader has to send it.',
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
