import type { ChainSlug } from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { ChainReadiness } from '../../../chain/chainReadiness.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'
import { defineRoute } from '../../route.ts'

const ChainState = Type.Object({
  ready: Type.Boolean(),
  relayer: Type.Boolean({ description: 'True while actions of the facade are sent on this chain.' }),
  relayerWarning: Type.Optional(Type.String({ description: 'The present or impending problem of the relayer.' })),
})

/** The state of a chain's relayer. */
export interface RelayerState {
  /** True while nothing stops it from sending. */
  readonly isWorking: boolean
  readonly warning: string | undefined
}

/** The context of the readiness route. */
export interface ReadyContext {
  readonly chains: readonly ServedChain[]
  readonly readiness: Pick<ChainReadiness, 'isReady'>
  /** Returns `undefined` for a chain without a relayer. */
  readonly relayerState: (slug: ChainSlug) => RelayerState | undefined
}

const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    chains: Type.Record(Type.String(), ChainState),
  },
  { title: 'Readiness' },
)

export const readyRoute = defineRoute({
  method: 'GET',
  path: '/ready',
  operationId: 'ready',
  tag: 'System',
  access: 'public',
  summary: 'Reports whether every chain can be used now',
  errors: [],
  responses: { 200: Readiness, 503: Readiness },
  async handler(context: ReadyContext, _request, reply) {
    const answer = readinessOf(context)
    return reply.code(answer.ready ? 200 : 503).send(answer)
  },
})

function readinessOf({ chains, readiness, relayerState }: ReadyContext): Static<typeof Readiness> {
  const states = chains.map(({ slug }) => {
    const { isWorking = false, warning } = relayerState(slug) ?? {}
    const state = { ready: readiness.isReady(slug), relayer: isWorking }
    return [slug, warning === undefined ? state : { ...state, relayerWarning: warning }] as const
  })
  return { ready: states.every(([, state]) => state.ready), chains: Object.fromEntries(states) }
}
