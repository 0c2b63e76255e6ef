import type { Server } from 'node:http'
import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { RunningAccounts } from './accounts/startAccounts.ts'
import type { ServedChain } from './chain/servedChain.ts'
import type { ServerConfig } from './settings/config.ts'
import type { Access } from './openAccess.ts'
import type { Markets } from './market/startMarkets.ts'
import { answerEnvelope } from './facade/exchange/exchange.ts'
import type { FacadeCounts } from './facade/stream/facadeCounts.ts'
import type { Exchange } from './facade/stream/facadePosts.ts'
import type { FacadeStreamSources } from './facade/stream/facadeStreamSources.ts'
import { openFacadeStream } from './facade/stream/openFacadeStream.ts'
import { readEnvelope } from './facade/signing/parseEnvelope.ts'
import { MalformedEnvelope } from './facade/signing/malformedEnvelope.ts'
import { requireAllowed } from './access/limitAnswers.ts'
import type { Facades } from './startFacade.ts'
import type { Metrics } from './metrics/createMetrics.ts'
import type { Trading } from './startTrading.ts'
import type { Store } from './store/sql.ts'
import type { Channels } from './stream/channel.ts'
import { createLogChannels } from './stream/channels/logChannels.ts'
import { createLogSnapshots } from './stream/log/logSnapshots.ts'
import { createPublicChannels } from './stream/topics/publicChannels.ts'
import { serveStream, type Stream } from './stream/socket/serveStream.ts'
import { createStreamAuth } from './stream/session/streamAuth.ts'
import type { StreamCounts } from './stream/streamCounts.ts'
import type { TradeTape } from './stream/topics/tradeTape.ts'
import { createTurns, type Turns } from './ground/turns.ts'

export interface StartStreamOptions {
  readonly config: ServerConfig
  readonly chains: readonly ServedChain[]
  readonly store: Store
  readonly markets: Markets
  readonly access: Access
  readonly accounts: RunningAccounts
  readonly trading: Trading
  readonly tapes: ReadonlyMap<ChainSlug, TradeTape>
  readonly metrics: Metrics
  readonly counts: StreamCounts
  readonly facades: Facades
  readonly facadeCounts: FacadeCounts
  readonly log: FastifyBaseLogger
}

/** Serves the WebSockets of all chains. */
export function startStream(server: Server, options: StartStreamOptions): Stream {
  const { config, chains, access, log } = options
  const turns = createTurns()
  const closers: (() => void)[] = []
  const channels = new Map<ChainSlug, Channels>()
  for (const { slug } of chains) {
    const publicChannels = createPublicChannels(publicSources(slug, options), options.counts)
    const logChannels = createLogChannels({ ...logSources(slug, options), turns, counts: options.counts })
    closers.push(publicChannels.close, logChannels.close)
    channels.set(slug, { ...publicChannels, ...logChannels })
  }
  const facade = openFacadeStream({
    chains: chains.map(({ slug }) => slug),
    counts: options.facadeCounts,
    exchangeOf: (slug, network) => exchangeOf(slug, network, options),
    sourcesOf: (slug) => facadeSources(slug, options, turns),
  })
  closers.push(facade.close)
  const stream = serveStream(server, {
    ...options,
    otherKinds: [facade.kind],
    channelsOf: (chain) => channels.get(chain)!,
    auth: createStreamAuth(access),
    limits: access.limits,
    ipLimit: config.ipLimit,
    trustedProxies: config.trustedProxies,
    now: Date.now,
    log,
    bounds: { maxSockets: config.streamConnections, maxSocketsPerIp: config.streamConnectionsPerIp },
  })
  return {
    async close() {
      await stream.close()
      for (const close of closers) close()
    },
  }
}

function publicSources(slug: ChainSlug, { markets, tapes }: StartStreamOptions) {
  const { feed, candles, byChain } = markets
  return { feed, candles, markets: byChain.get(slug)!, trades: tapes.get(slug)! }
}

function logSources(slug: ChainSlug, { access, accounts, trading, store, log }: StartStreamOptions) {
  const { accountText, watch } = accounts.byChain.get(slug)!
  const { follower, reads, accountLog } = trading.byChain.get(slug)!
  const followerReason = () => follower.reason()
  return {
    log: accountLog,
    agents: access.agentsOf(slug),
    snapshots: createLogSnapshots({ chain: slug, store, positions: reads, accountText, followerReason }),
    watch,
    now: Date.now,
    onError: (error: unknown) => log.error({ chain: slug, err: error }, 'the log of an account can not be read'),
  }
}

function facadeSources(slug: ChainSlug, options: StartStreamOptions, turns: Turns): FacadeStreamSources {
  const { accounts, facades, markets, tapes, trading, log } = options
  return {
    reads: facades.get(slug)!.reads,
    feed: markets.feed,
    candles: markets.candles,
    trades: tapes.get(slug)!,
    log: trading.byChain.get(slug)!.accountLog,
    watch: accounts.byChain.get(slug)!.watch,
    turns,
    onError: (error) => log.error({ chain: slug, err: error }, "what the facade's stream tells can not be read"),
  }
}

/** Actions that come as messages go the way of those that come as requests. */
function exchangeOf(slug: ChainSlug, network: string, { facades }: StartStreamOptions): Exchange {
  const { exchange } = facades.get(slug)!
  const bearer = { network, onCharge: requireAllowed }
  return async (payload) => {
    try {
      return { status: 200, body: await answerEnvelope(exchange, readEnvelope(payload), bearer) }
    } catch (error) {
      if (error instanceof MalformedEnvelope) return { status: 422, body: error.message }
      throw error
    }
  }
}
