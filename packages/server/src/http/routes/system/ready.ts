import type { ChainSlug } from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { Controls } from '../../../access/controls.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { NotReadyReason } from '../../../ground/unavailable.ts'
import { defineRoute } from '../../route.ts'

const ChainState = Type.Object({
  ready: Type.Boolean(),
  reason: Type.Optional(
    Type.String({ description: 'While the chain is not ready: the `details.reason` of its NOT_READY answers.' }),
  ),
  writesPaused: Type.Optional(
    Type.String({ description: "While the operator has paused all writes: the operator's words. Reads go on." }),
  ),
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
  /** Returns the reason why a chain can't be used now; `undefined` when it can. */
  readonly notReadyReason: (slug: ChainSlug) => NotReadyReason | undefined
  readonly controls: Pick<Controls, 'writesPaused'>
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

function readinessOf({ chains, notReadyReason, controls, relayerState }: ReadyContext): Static<typeof Readiness> {
  const states = chains.map(({ slug }): [ChainSlug, Static<typeof ChainState>] => {
    const { isWorking = false, warning } = relayerState(slug) ?? {}
    const reason = notReadyReason(slug)
    const pause = controls.writesPaused(slug)
    const state = {
      ready: reason === undefined,
      ...(reason && { reason }),
      ...(pause && { writesPaused: pause.reason }),
      relayer: isWorking,
    }
    return [slug, warning === undefined ? state : { ...state, relayerWarning: warning }]
  })
  return { ready: states.every(([, state]) => state.ready), chains: Object.fromEntries(states) }
}
