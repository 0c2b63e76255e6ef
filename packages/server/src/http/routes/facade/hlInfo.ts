import { Annotated, ApiError, OneOf, type ChainSlug } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { type ServedChain, servedChainOf } from '../../../chain/servedChain.ts'
import { createRowMeter, INFO_PAGE, MAX_INFO_ROWS, type RowMeter } from '../../../access/weights.ts'
import type { FacadeReads } from '../../../facade/facadeReads.ts'
import { answerInfo, INFO_TYPES } from '../../../facade/info/infoTypes.ts'
import { isOfUser, MalformedInfoError } from '../../../facade/info/infoRequest.ts'
import { defineRoute } from '../../route.ts'

/** Content type without a charset, because some clients refuse any other text. */
const JSON_TYPE = 'application/json'

/** The body of a read. Its other fields depend on its type. */
const InfoBody = Type.Object({
  type: Annotated(OneOf(Object.keys(INFO_TYPES)), {
    description: 'Kind of the read. Its other fields are those of the exchange.',
  }),
})

const Answer = Type.Unknown({
  description: 'The shape depends on the `type` of the request; `null` for an unknown coin.',
})

/** The context of the route for the facade's reads. */
export interface HlInfoContext {
  readonly chains: readonly ServedChain[]
  readonly facadeOf: (chain: ChainSlug) => FacadeReads
  /**
   * Waits a moment for what other nodes committed, and throws `NOT_READY` when what is known is too old; `undefined`
   * where there are none.
   */
  readonly settle?: ((chain: ChainSlug) => Promise<void>) | undefined
}

export const hlInfoRoute = defineRoute({
  method: 'POST',
  path: '/hl/:chain/info',
  operationId: 'hlInfo',
  tag: 'Hyperliquid compatibility',
  access: 'public',
  summary: 'Answers a read of the exchange-shaped facade, chosen by the `type` in its body',
  description: `A list weighs 1 for every ${INFO_PAGE} rows, or part of them, and has at most ${MAX_INFO_ROWS}. Everything else weighs 1.`,
  errors: ['UPSTREAM_UNAVAILABLE', 'NOT_READY'],
  body: InfoBody,
  // Each type checks its own fields.
  checksOwnBody: true,
  responses: { 200: Answer },
  handler({ chains, facadeOf, settle }: HlInfoContext, request, reply) {
    const { slug } = servedChainOf(chains, request.params.chain)
    const meter = createRowMeter((weight) => request.chargeMore(weight))
    const make = () => answerOf(request.body, facadeOf(slug), meter)
    const answer = settle !== undefined && isOfUser(request.body) ? settle(slug).then(make) : make()
    reply.header('content-type', JSON_TYPE)
    // An answer that is already in memory is sent at once. Most requests ask for one, and a promise would slow each of
    // them down.
    if (answer instanceof Promise) return answer
    reply.send(answer)
  },
})

function answerOf(body: unknown, reads: FacadeReads, meter: RowMeter): Buffer | string | Promise<Buffer | string> {
  try {
    const answer = answerInfo(body, reads, meter)
    return answer instanceof Promise ? answer.catch(refuse) : answer
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw error instanceof MalformedInfoError ? new ApiError('VALIDATION_ERROR', error.message) : error
}
