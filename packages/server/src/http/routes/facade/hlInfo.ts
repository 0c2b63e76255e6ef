import { ApiError, type ChainSlug } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { FacadeReads } from '../../../facade/facadeReads.ts'
import { answerInfo } from '../../../facade/info/answerInfo.ts'
import { INFO_TYPES } from '../../../facade/info/infoTypes.ts'
import { MalformedInfoError } from '../../../facade/info/malformedInfo.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'

/** Exactly this: some clients refuse anything else. */
const JSON_TYPE = 'application/json'

/** What else a request holds depends on its type. */
const InfoBody = Type.Object({ type: Type.Union(Object.keys(INFO_TYPES).map((name) => Type.Literal(name))) })

const Answer = Type.Unknown({ description: 'As the type of the request has it; `null` for an unknown coin.' })

/** What the route of the facade's reads answers from. */
export interface HlInfoContext {
  readonly chains: readonly ServedChain[]
  readonly facadeOf: (chain: ChainSlug) => FacadeReads
}

interface HlInfoRoute {
  readonly Params: { readonly chain: string }
}

/** POST /hl/{chain}/info: every read of the facade, told apart by the `type` in its body. */
export function hlInfo(app: FastifyInstance, { chains, facadeOf }: HlInfoContext): void {
  const schema = { operationId: 'hlInfo', body: InfoBody, response: { 200: Answer } }
  // The types say themselves what they can read.
  const validatorCompiler = () => () => true
  app.post<HlInfoRoute>('/hl/:chain/info', { schema, validatorCompiler }, (request, reply) => {
    const { slug } = servedChainOf(chains, request.params.chain)
    const answer = answerOf(request.body, facadeOf(slug))
    reply.header('content-type', JSON_TYPE)
    // What is there already is sent at once: most requests ask for it, and a promise would cost each of them something.
    if (answer instanceof Promise) return answer
    reply.send(answer)
  })
}

function answerOf(body: unknown, reads: FacadeReads): Buffer | string | Promise<Buffer | string> {
  try {
    const answer = answerInfo(body, reads)
    return answer instanceof Promise ? answer.catch(refuse) : answer
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw error instanceof MalformedInfoError ? new ApiError('VALIDATION_ERROR', error.message) : error
}
