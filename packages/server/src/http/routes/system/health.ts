import { ChainSlugSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ServedChain } from '../../../chain/servedChain.ts'

const Health = Type.Object({ status: Type.Literal('ok'), chains: Type.Array(ChainSlugSchema) }, { title: 'Health' })

/** GET /health: the process is alive, and this is what it serves. */
export function health(app: FastifyInstance, { chains }: { chains: readonly ServedChain[] }): void {
  const answer = { status: 'ok', chains: chains.map(({ slug }) => slug) }
  app.get('/health', { schema: { operationId: 'health', response: { 200: Health } } }, async () => answer)
}
