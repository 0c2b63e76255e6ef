import type { ChainSlug } from '@bezel/protocol'
import { PING_FRAME } from '../../stream/socket/frames.ts'
import type { SocketKind } from '../../stream/socket/socketKind.ts'
import { createBurstRate } from './burstRate.ts'
import { FACADE_BOUNDS, type FacadeBounds } from './facadeBounds.ts'
import type { FacadeChannels } from './facadeChannels.ts'
import type { FacadeCounts } from './facadeCounts.ts'
import type { Exchange } from './facadePosts.ts'
import { openFacadeSession } from './facadeSession.ts'
import { errorText } from './facadeTexts.ts'

export interface FacadeKindOptions {
  readonly channelsOf: (chain: ChainSlug) => FacadeChannels
  /** `network`: of the client's IP. */
  readonly exchangeOf: (chain: ChainSlug, network: string) => Exchange
  readonly counts: FacadeCounts
  readonly bounds?: Partial<FacadeBounds>
}

/** `/hl/{chain}/ws`. Anybody may come in, and is asked for a sign of life by the protocol alone: unasked messages confuse clients. */
export function createFacadeKind(options: FacadeKindOptions): SocketKind {
  const { channelsOf, exchangeOf, counts } = options
  const bounds: FacadeBounds = { ...FACADE_BOUNDS, ...options.bounds }
  return {
    path: /^\/hl\/([^/?]+)\/ws(?:\?|$)/,
    operation: 'hlStream',
    bounds,
    dialect: { errorText: ({ message }) => errorText(message), pingFrame: () => PING_FRAME },
    createRate: () => createBurstRate({ burst: bounds.maxMessageBurst, perSecond: bounds.maxMessagesPerSecond }),
    authenticateUpgrade: async () => undefined,
    openSession(connection, { chain, network, charge, toApiError }) {
      const of = { channels: channelsOf(chain.slug), exchange: exchangeOf(chain.slug, network) }
      return openFacadeSession({ ...of, connection, bounds, counts, charge, toApiError })
    },
  }
}
