import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ChainReadiness } from '../../../chain/chainReadiness.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'

const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    chains: Type.Record(Type.String(), Type.Object({ ready: Type.Boolean(), relayer: Type.Boolean() })),
  },
  { title: 'Readiness' },
)

/** GET /ready: 200 when every chain can be used, else 503 with the same shape. Answered from memory. */
export function ready(
  app: FastifyInstance,
  of: { chains: readonly ServedChain[]; readiness: Pick<ChainReadiness, 'isReady'> },
): void {
  const schema = { operationId: 'ready', response: { 200: Readiness, 503: Readiness } }
  app.get('/ready', { schema }, async (_request, reply) => {
    const answer = readinessOf(of.chains, of.readiness)
    return reply.code(answer.ready ? 200 : 503).send(answer)
  })
}

function readinessOf(
  chains: readonly ServedChain[],
  readiness: Pick<ChainReadiness, 'isReady'>,
): Static<typeof Readiness> {
  // No chain has a relayer yet: it comes with the facade.
  const states = chains.map(({ slug }) => [slug, { ready: readiness.isReady(slug), relayer: false }] as const)
  return { ready: states.every(([, state]) => state.ready), chains: Object.fromEntries(states) }
}
