import type { ChainSlug } from '@bezel/protocol'
import { Type, type Static } from '@sinclair/typebox'
import type { Controls } from '../../../access/controls.ts'
import type { ServedChain } from '../../../chain/servedChain.ts'
import type { NotReadyReason } from '../../../ground/unavailable.ts'
import { defineRoute } from '../../route.ts'

const ChainState = Type.Object({
  ready: Type.Boolean({ description: 'True when reads and writes of this chain work.' }),
  reason: Type.Optional(
    Type.String({
      description: 'While the chain is not ready: the `details.reason` of its NOT_READY answers.',
      examples: ['feed_stale'],
    }),
  ),
  diamondWarning: Type.Optional(
    Type.String({
      description:
        'The change of the contracts of this chain, while nothing is written because of it; else the last event of them that is not known, which stops nothing.',
      examples: ['The Diamond has another facet for openTrade.'],
    }),
  ),
  writesPaused: Type.Optional(
    Type.String({
      description: "While the operator has paused all writes: the operator's words. Reads go on.",
      examples: ['Maintenance until 14:00 UTC'],
    }),
  ),
  marketsLeftOut: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Pairs of the chain that are left out of its markets, because the price feed has no price of them. The others go on.',
      examples: [['PEPE/USD']],
    }),
  ),
  marketsWarning: Type.Optional(
    Type.String({
      description:
        'The last values of markets that the chain had otherwise than its events told, until all of them were compared again. They are corrected.',
      examples: ['At block 7 the chain had other values than its events told, which were corrected: BTC/USD in USDC.'],
    }),
  ),
  providersWarning: Type.Optional(
    Type.String({
      description: "The providers of this chain's node that are not well, and why. The others go on.",
      examples: ['Provider 2 (node.example) is limited: the node is asked too often: HTTP 429.'],
    }),
  ),
  relayer: Type.Boolean({ description: 'True while actions of the facade are sent on this chain.' }),
  relayerWarning: Type.Optional(
    Type.String({
      description: 'The present or impending problem of the relayer.',
      examples: ['The gas balance of the relayer is low.'],
    }),
  ),
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
  /** Returns what changed in the contracts of a chain; `undefined` when they are as expected. */
  readonly diamondWarning: (slug: ChainSlug) => string | undefined
  /** Returns the symbols of the pairs that are left out of the markets of a chain. */
  readonly marketsLeftOut: (slug: ChainSlug) => readonly string[]
  /** Returns the last difference between the chain's markets and its events; `undefined` when there is none. */
  readonly marketsWarning: (slug: ChainSlug) => string | undefined
  /** Returns what is wrong with providers of a chain; `undefined` when all are well. */
  readonly providersWarning: (slug: ChainSlug) => string | undefined
  /** Returns what is wrong with Redis; `undefined` when it is well or not configured. */
  readonly redisWarning: () => string | undefined
  readonly controls: Pick<Controls, 'writesPaused'>
  /** Returns `undefined` for a chain without a relayer. */
  readonly relayerState: (slug: ChainSlug) => RelayerState | undefined
}

const Readiness = Type.Object(
  {
    ready: Type.Boolean({ description: 'True when every chain is ready.' }),
    redisWarning: Type.Optional(
      Type.String({
        description: 'The trouble with the Redis that nodes share, while there is one. Everything goes on without it.',
        examples: ["Redis can't be used (it does not answer): each node counts limits for itself."],
      }),
    ),
    chains: Type.Record(Type.String(), ChainState, { description: 'State of each chain, by its name.' }),
  },
  { title: 'Readiness', description: 'The usability of each chain now.' },
)

export const readyRoute = defineRoute({
  method: 'GET',
  path: '/ready',
  operationId: 'ready',
  tag: 'System',
  access: 'public',
  summary: 'Reports whether every chain can be used now',
  description:
    'Answers 200 when every chain is ready, else 503 in the same shape. While a chain is not, its `reason` says what it waits for: ask again after a pause.',
  errors: [],
  responses: { 200: Readiness, 503: Readiness },
  async handler(context: ReadyContext, _request, reply) {
    const answer = readinessOf(context)
    return reply.code(answer.ready ? 200 : 503).send(answer)
  },
})

function readinessOf(context: ReadyContext): Static<typeof Readiness> {
  const { chains, notReadyReason, diamondWarning, controls, relayerState } = context
  const states = chains.map(({ slug }): [ChainSlug, Static<typeof ChainState>] => {
    const { isWorking = false, warning } = relayerState(slug) ?? {}
    const reason = notReadyReason(slug)
    const changed = diamondWarning(slug)
    const pause = controls.writesPaused(slug)
    const marketsWarning = context.marketsWarning(slug)
    const providersWarning = context.providersWarning(slug)
    const marketsLeftOut = [...context.marketsLeftOut(slug)]
    const state = {
      ready: reason === undefined,
      ...(reason && { reason }),
      ...(changed && { diamondWarning: changed }),
      ...(pause && { writesPaused: pause.reason }),
      ...(marketsLeftOut.length > 0 && { marketsLeftOut }),
      ...(marketsWarning && { marketsWarning }),
      ...(providersWarning && { providersWarning }),
      relayer: isWorking,
    }
    return [slug, warning === undefined ? state : { ...state, relayerWarning: warning }]
  })
  const redisWarning = context.redisWarning()
  return {
    ready: states.every(([, state]) => state.ready),
    ...(redisWarning && { redisWarning }),
    chains: Object.fromEntries(states),
  }
}
