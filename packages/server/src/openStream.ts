import { requireAllowed } from './access/limits.ts'
import { servedChainOf } from './chain/servedChain.ts'
import { answerEnvelope } from './facade/exchange/exchange.ts'
import { MalformedEnvelope, readEnvelope } from './facade/signing/envelope.ts'
import type { FacadeStreamSources } from './facade/stream/channels/facadeChannel.ts'
import type { Exchange } from './facade/stream/facadePosts.ts'
import { openFacadeStream } from './facade/stream/openFacadeStream.ts'
import { notReady } from './ground/unavailable.ts'
import type { Base } from './openBase.ts'
import type { OpenChain } from './openChain.ts'
import type { Channels } from './stream/channel.ts'
import { createLogSnapshots } from './stream/log/logSnapshots.ts'
import { createStreamAuth } from './stream/session/streamAuth.ts'
import { createNativeKind } from './stream/session/nativeKind.ts'
import { DEFAULT_BOUNDS } from './stream/bounds.ts'
import { serveStream } from './stream/socket/serveStream.ts'
import { createStreamChannels } from './stream/channels/streamChannels.ts'

/** Serves the WebSockets of all chains, native and facade. `open` closes the sockets first, then the channels. */
export function openStream(base: Base, chains: readonly OpenChain[], open: AsyncDisposableStack): void {
  const { config, authenticate } = base
  const chainOf = (slug: string): OpenChain => servedChainOf(chains, slug)
  const channels = chains.map((chain) => ({ slug: chain.slug, ...openChannels(chain, base, open) }))
  const facade = openFacadeStream({
    chains: base.chains.map(({ slug }) => slug),
    counts: base.facadeCounts,
    overload: base.overload,
    exchangeOf: (slug, network) => createExchange(chainOf(slug), network, base),
    sourcesOf: (slug) => facadeSources(chainOf(slug), base),
  })
  open.defer(() => facade.close())
  const bounds = {
    ...DEFAULT_BOUNDS,
    maxSockets: config.streamConnections,
    maxSocketsPerIp: config.streamConnectionsPerIp,
  }
  const native = createNativeKind(
    {
      channelsOf: (slug) => servedChainOf(channels, slug),
      auth: createStreamAuth({
        authenticate,
        agentsOf: (slug) => chainOf(slug).agents,
        now: base.now,
        isClockWrong: base.clock.isWrong,
      }),
      counts: base.streamCounts,
      overload: base.overload,
      now: base.now,
    },
    bounds,
  )
  const stream = serveStream(base.app.server, {
    chains: base.chains,
    metrics: base.metrics,
    counts: base.streamCounts,
    kinds: [native, facade.kind],
    limits: authenticate.limits,
    ipLimit: config.ipLimit,
    trustedProxies: config.trustedProxies,
    now: base.now,
    log: base.log,
    bounds,
    stopSpreadMs: config.stopSpreadMs,
  })
  open.defer(() => stream.close())
  // Whoever listens may have missed something, and reads on from its last event.
  open.defer(base.commits.onReload(stream.disconnect))
}

function openChannels(of: OpenChain, base: Base, open: AsyncDisposableStack): Channels {
  const { feed, candles } = base.markets
  const sources = { feed, candles, markets: of.market, trades: of.tape }
  const log = { ...logSources(of, base), turns: base.replays }
  const channels = createStreamChannels({ sources, log, counts: base.streamCounts })
  open.defer(channels.close)
  return channels
}

function logSources(of: OpenChain, { store, now, log }: Base) {
  const { slug } = of.chain
  const { accountText, watch } = of.accounts
  const { reason: followerReason, isKnown } = of.follower
  return {
    log: of.accountLog,
    agents: of.agents,
    snapshots: createLogSnapshots({ chain: slug, store, positions: of.positionReads, accountText, followerReason }),
    isKnown,
    watch,
    now,
    onError: (error: unknown) => log.error({ chain: slug, err: error }, 'the log of an account can not be read'),
  }
}

function facadeSources(of: OpenChain, { roles, markets, replays, log }: Base): FacadeStreamSources {
  return {
    reads: of.facade.reads,
    commits: roles.isAlone ? undefined : of.commits,
    feed: markets.feed,
    candles: markets.candles,
    trades: of.tape,
    log: of.accountLog,
    watch: of.accounts.watch,
    turns: replays,
    onError: (error) =>
      log.error({ chain: of.chain.slug, err: error }, "what the facade's stream tells can not be read"),
  }
}

/**
 * Returns a function that answers actions sent over a socket like those of `POST /exchange`. `network` is the network
 * of the client's IP.
 */
function createExchange({ facade }: OpenChain, network: string, { clock }: Pick<Base, 'clock'>): Exchange {
  const bearer = { network, onCharge: requireAllowed }
  return async (payload) => {
    if (clock.isWrong()) throw notReady('clock')
    try {
      return { status: 200, body: await answerEnvelope(facade.exchange, readEnvelope(payload), bearer) }
    } catch (error) {
      if (error instanceof MalformedEnvelope) return { status: 422, body: error.message }
      throw error
    }
  }
}
