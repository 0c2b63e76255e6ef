import type { ChainSlug } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { networkOf } from '../../../access/ipAddress.ts'
import { ACTIONS } from '../../../facade/exchange/actions.ts'
import { answerEnvelope } from '../../../facade/exchange/exchange.ts'
import type { ExchangeParts } from '../../../facade/exchange/exchangeParts.ts'
import { MalformedEnvelope } from '../../../facade/signing/malformedEnvelope.ts'
import { readEnvelope } from '../../../facade/signing/parseEnvelope.ts'
import { ipOf } from '../../hooks/chargeIp.ts'
import { recordLimitAnswer } from '../../../access/limitAnswers.ts'
import type { JsonValue } from '../../../json/parseStrictJson.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'

/** Exactly this: some clients refuse anything else. */
const JSON_TYPE = 'application/json'

const Envelope = Type.Object({
  action: Type.Object({ type: Type.Union(Object.keys(ACTIONS).map((name) => Type.Literal(name))) }),
  nonce: Type.Integer({ description: 'Epoch milliseconds, within 60 s of now, never used before by this signer.' }),
  signature: Type.Object({ r: Type.String(), s: Type.String(), v: Type.Integer() }),
  vaultAddress: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  expiresAfter: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
})

const Answer = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('err')]),
    response: Type.Unknown({ description: 'Of `ok` an object with a `type`, of `err` a text.' }),
    delegationTx: Type.Optional(
      Type.Unknown({ description: 'What the master wallet has to send once; `null` when nothing is left to send.' }),
    ),
  },
  { title: 'ExchangeAnswer' },
)

/** What the route of the facade's actions answers from. */
export interface HlExchangeContext {
  readonly chains: readonly ServedChain[]
  readonly exchangeOf: (chain: ChainSlug) => ExchangeParts
  readonly trustedProxies: number
}

interface HlExchangeRoute {
  readonly Params: { readonly chain: string }
}

/** POST /hl/{chain}/exchange: every action of the facade, in an envelope that is signed as on the exchange whose shape this is. */
export function hlExchange(app: FastifyInstance, { chains, exchangeOf, trustedProxies }: HlExchangeContext): void {
  const schema = { operationId: 'hlExchange', body: Envelope, response: { 200: Answer } }
  // The actions say themselves what they can read.
  const validatorCompiler = () => () => true
  app.post<HlExchangeRoute>('/hl/:chain/exchange', { schema, validatorCompiler }, async (request, reply) => {
    const parts = exchangeOf(servedChainOf(chains, request.params.chain).slug)
    try {
      const envelope = readEnvelope(request.body as JsonValue)
      const answer = await answerEnvelope(parts, envelope, {
        network: networkOf(ipOf(request, trustedProxies)),
        onCharge: (charged) => recordLimitAnswer(request, charged),
      })
      // Bytes, because the framework would add to the type of a text.
      return await reply.type(JSON_TYPE).send(Buffer.from(JSON.stringify(answer)))
    } catch (error) {
      return refuseMalformed(error, reply)
    }
  })
}

function refuseMalformed(error: unknown, reply: FastifyReply): FastifyReply {
  if (!(error instanceof MalformedEnvelope)) throw error
  return reply.code(422).type('text/plain; charset=utf-8').send(error.message)
}
