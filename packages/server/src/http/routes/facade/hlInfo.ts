import { ApiError, type ChainSlug } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { FacadeReads } from '../../../facade/facadeReads.ts'
import { answerInfo } from '../../../facade/info/answerInfo.ts'
import { MalformedInfoError } from '../../../facade/info/malformedInfo.ts'
import { servedChainOf } from '../../servedChainOf.ts'

/** Exactly this: some clients refuse anything else. */
const JSON_TYPE = 'application/json'

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
  const schema = { operationId: 'hlInfo', response: { 200: Answer } }
  app.post<HlInfoRoute>('/hl/:chain/info', { schema, serializerCompiler: () => JSON.stringify }, async (request, reply) => {
    const { slug } = servedChainOf(chains, request.params.chain)
    return reply.type(JSON_TYPE).send(await answer(request.body, facadeOf(slug)))
  })
}

async function answer(body: unknown, reads: FacadeReads): Promise<Buffer | string> {
  try {
    return await answerInfo(body, reads)
  } catch (error) {
    if (error instanceof MalformedInfoError) throw new ApiError('VALIDATION_ERROR', error.message)
    throw error
  }
}
