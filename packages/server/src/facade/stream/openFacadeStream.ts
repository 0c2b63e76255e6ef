import type { ChainSlug } from '@bezel/protocol'
import type { SocketKind } from '../../stream/socket/socketKind.ts'
import type { FacadeBounds } from './facadeBounds.ts'
import { createFacadeChannels } from './facadeChannels.ts'
import type { FacadeCounts } from './facadeCounts.ts'
import { createFacadeKind } from './facadeKind.ts'
import type { Exchange } from './facadePosts.ts'
import type { FacadeStreamSources } from './facadeStreamSources.ts'

/** The sockets of the facade, for `serveStream`. */
export interface FacadeStream {
  readonly kind: SocketKind
  /** After the sockets are closed. */
  close(): void
}

export interface FacadeStreamOptions {
  readonly chains: readonly ChainSlug[]
  readonly sourcesOf: (chain: ChainSlug) => FacadeStreamSources
  /** `network`: of the client's IP. */
  readonly exchangeOf: (chain: ChainSlug, network: string) => Exchange
  readonly counts: FacadeCounts
  readonly bounds?: Partial<FacadeBounds>
}

/** Listens to the sources of all chains. */
export function openFacadeStream({ chains, sourcesOf, ...options }: FacadeStreamOptions): FacadeStream {
  const channels = new Map(chains.map((chain) => [chain, createFacadeChannels(sourcesOf(chain), options.counts)]))
  return {
    kind: createFacadeKind({ ...options, channelsOf: (chain) => channels.get(chain)! }),
    close() {
      for (const ofChain of channels.values()) ofChain.close()
    },
  }
}
