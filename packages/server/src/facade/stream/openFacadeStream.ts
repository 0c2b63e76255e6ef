import type { ChainSlug } from '@bezel/protocol'
import type { OverloadGuard } from '../../access/overload.ts'
import type { SocketKind, MessageRate } from '../../stream/socket/socketKind.ts'
import { type FacadeBounds, FACADE_BOUNDS, openFacadeSession } from './facadeSession.ts'
import { createFacadeChannels, type FacadeChannels } from './facadeChannels.ts'
import type { FacadeCounts, FacadeStreamSources } from './channels/facadeChannel.ts'
import type { Exchange } from './facadePosts.ts'
import { PING_FRAME } from '../../stream/socket/frames.ts'
import { errorText } from './facadeMessages.ts'

/** The sockets of the facade, for `serveStream`. */
interface FacadeStream {
  readonly kind: SocketKind
  /** Closes the channels. Call it after the sockets are closed. */
  close(): void
}

interface FacadeStreamOptions {
  readonly chains: readonly ChainSlug[]
  readonly sourcesOf: (chain: ChainSlug) => FacadeStreamSources
  /** Returns the function that answers actions. `network` is the network of the client's IP. */
  readonly exchangeOf: (chain: ChainSlug, network: string) => Exchange
  readonly counts: FacadeCounts
  /** Sheds anonymous requests. Left out: none are. */
  readonly overload?: OverloadGuard | undefined
  readonly bounds?: Partial<FacadeBounds>
}

/** Opens the channels of all chains. */
export function openFacadeStream({ chains, sourcesOf, ...options }: FacadeStreamOptions): FacadeStream {
  const channels = new Map(chains.map((chain) => [chain, createFacadeChannels(sourcesOf(chain), options.counts)]))
  return {
    kind: createFacadeKind({ ...options, channelsOf: (chain) => channels.get(chain)! }),
    close() {
      for (const ofChain of channels.values()) ofChain.close()
    },
  }
}

type FacadeKindOptions = Omit<FacadeStreamOptions, 'chains' | 'sourcesOf'> & {
  readonly channelsOf: (chain: ChainSlug) => FacadeChannels
}

/**
 * Creates the sockets of `/hl/{chain}/ws`. They are open to everybody and check for life by protocol pings only,
 * because unexpected messages confuse clients.
 */
function createFacadeKind(options: FacadeKindOptions): SocketKind {
  const { channelsOf, exchangeOf, counts, overload } = options
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
      return openFacadeSession({ ...of, connection, bounds, counts, overload, charge, toApiError })
    },
  }
}

const SECOND_MS = 1_000

/** Creates a token bucket: holds `burst` messages, and gains `perSecond` each second. */
function createBurstRate({ burst, perSecond }: { burst: number; perSecond: number }): MessageRate {
  let left = burst
  let lastMs: number | undefined
  return {
    isWithin(nowMs) {
      const gained = ((nowMs - (lastMs ?? nowMs)) / SECOND_MS) * perSecond
      lastMs = nowMs
      left = Math.min(burst, left + gained) - 1
      if (left >= 0) return true
      left = 0
      return false
    },
  }
}
