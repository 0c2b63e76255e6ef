import type { ChainSlug } from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { ChainReadiness } from '../../../chain/chainReadiness.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'

const ChainState = Type.Object({
  ready: Type.Boolean(),
  relayer: Type.Boolean({ description: 'Whether actions of the facade are sent on this chain now.' }),
  relayerWarning: Type.Optional(Type.String({ description: 'What is wrong with the relayer, or soon will be.' })),
})

/** How the relayer of a chain is. */
export interface RelayerState {
  /** Nothing stops it from sending. */
  readonly isWorking: boolean
  readonly warning: string | undefined
}

/** What readiness is judged by. */
export interface ReadyContext {
  readonly chains: readonly ServedChain[]
  readonly readiness: Pick<ChainReadiness, 'isReady'>
  /** `undefined` where there is none. */
  readonly relayerState: (slug: ChainSlug) => RelayerState | undefined
}

const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    chains: Type.Record(Type.String(), ChainState),
  },
  { title: 'Readiness' },
)

/** GET /ready: 200 when every chain can be used, else 503 with the same shape. Answered from memory. */
export function ready(app: FastifyInstance, context: ReadyContext): void {
  const schema = { operationId: 'ready', response: { 200: Readiness, 503: Readiness } }
  app.get('/ready', { schema }, async (_request, reply) => {
    const answer = readinessOf(context)
    return reply.code(answer.ready ? 200 : 503).send(answer)
  })
}

function readinessOf({ chains, readiness, relayerState }: ReadyContext): Static<typeof Readiness> {
  const states = chains.map(({ slug }) => {
    const { isWorking = false, warning } = relayerState(slug) ?? {}
    const state = { ready: readiness.isReady(slug), relayer: isWorking }
    return [slug, warning === undefined ? state : { ...state, relayerWarning: warning }] as const
  })
  return { ready: states.every(([, state]) => state.ready), chains: Object.fromEntries(states) }
}
