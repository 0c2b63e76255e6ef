import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, MayBeMined, RunningProgram } from '@bezel/protocol'
import { boundConnections } from './access/connections.ts'
import { servedChainOf } from './chain/servedChain.ts'
import { serveConsole } from './console/serveConsole.ts'
import { serveAsyncapi } from './docs/asyncapi/createStreamDocument.ts'
import { serveOpenapi } from './docs/openapi/createDocument.ts'
import { serveDocs } from './docs/serveDocs.ts'
import { serveSecurityTxt } from './docs/serveSecurityTxt.ts'
import { pauseSentence } from './facade/relayer/guardRelayer.ts'
import { relayerWarning } from './facade/relayer/relayerHealth.ts'
import { listMayBeMined } from './facade/relayer/renewEntries.ts'
import type { ProviderStatus } from './chain/providers/providers.ts'
import { untilAvailable, type NotReadyReason } from './ground/unavailable.ts'
import { listen } from './http/createApp.ts'
import { settleFresh } from './journal/commits.ts'
import { promiseCommits } from './http/hooks/promiseCommits.ts'
import { allowOrigins, registerHooks } from './http/hooks/registerHooks.ts'
import { requireRightClock } from './http/hooks/requireRightClock.ts'
import {
  registerFacadeRoutes,
  registerRoutes,
  type FacadeRoutesContext,
  type RouteContext,
} from './http/routes/registerRoutes.ts'
import type { RelayerState } from './http/routes/system/ready.ts'
import { countAnswers, serveMetrics } from './metrics/createMetrics.ts'
import { watchAccounts, watchDeployment, watchRelayers, type ChainSource } from './metrics/watchDeployment.ts'
import { watchDiamonds } from './metrics/watchDiamonds.ts'
import { watchNode } from './metrics/watchNode.ts'
import { watchProviders } from './metrics/watchProviders.ts'
import { watchRedis } from './metrics/watchRedis.ts'
import { watchChannels, watchStream } from './metrics/watchStream.ts'
import { createNotices, type Notices } from './notices/startNotices.ts'
import { openBase, type Base } from './openBase.ts'
import { openChain, type OpenChain } from './openChain.ts'
import { isKeeper, openKeeper } from './openKeeper.ts'
import { openStream } from './openStream.ts'
import type { ServerConfig } from './settings/config.ts'

/** The reasons of this process for which a front should send requests elsewhere. */
interface NodeState {
  isStopping(): boolean
  isClockWrong(): boolean
}

/** Number of starts before a service gives up whose store did not answer meanwhile, each a second or more. */
const MAX_STARTS = 5

/**
 * Starts the service, again when its store did not answer in the middle of it: a database that is busy or restarts is
 * no reason to end. Throws a `StartupError` with nothing left running.
 */
export function run(config: ServerConfig): Promise<RunningProgram> {
  return untilAvailable(() => runOnce(config), MAX_STARTS)
}

async function runOnce(config: ServerConfig): Promise<RunningProgram> {
  const open = new AsyncDisposableStack()
  const stop = new AbortController()
  try {
    const url = await start(config, stop.signal, open)
    return {
      url,
      async close() {
        stop.abort()
        await sleep(config.stopNoticeMs)
        await open.disposeAsync()
      },
    }
  } catch (error) {
    await open.disposeAsync()
    throw error
  }
}

/**
 * Opens the shared parts, then each chain, then the routes and sockets; `open` closes everything in the reverse order.
 * From the abort of `stop` on, readiness says that the service stops.
 */
async function start(config: ServerConfig, stop: AbortSignal, open: AsyncDisposableStack): Promise<string> {
  const base = await openBase(config, open)
  const { app, log } = base
  const node: NodeState = { isStopping: () => stop.aborted, isClockWrong: base.clock.isWrong }
  const chains = await openChains(base, open)
  base.commits.start()
  const chainOf = (slug: string): OpenChain => servedChainOf(chains, slug)
  await openKeeper(
    base,
    {
      agentsOf: (slug) => chainOf(slug).agents,
      marketsOf: (slug) => chainOf(slug).market.watch.current(),
    },
    open,
  )

  watchEverything(base, chains, node)
  addOperations(base, chains, node, createNotices(base))
  open.defer(() => app.close())
  // Closed first of these: it answers the requests that wait for a fill, so that `app.close` need not wait for them.
  open.defer(() => base.waits.close())
  if (base.roles.has('api')) openStream(base, chains, open)
  // Before anything else is closed, so that other nodes go on with the work at once.
  open.defer(() => base.roles.release())
  const url = await listen(app, config)
  log.info({ url, chains: chains.map(({ slug }) => slug) }, 'service is up')
  return url
}

/**
 * Opens all chains concurrently. Throws the first failure after all have settled, so that `open` holds everything that
 * must be closed.
 */
async function openChains(base: Base, open: AsyncDisposableStack): Promise<OpenChain[]> {
  const settled = await Promise.allSettled(base.chains.map((chain) => openChain(chain, base, open)))
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

/** Registers the sources of the metrics. */
function watchEverything({ metrics, ...base }: Base, chains: readonly OpenChain[], node: NodeState): void {
  watchDeployment(metrics, {
    chains: chains.map((chain) => chainSource(chain, node)),
    ordersByStatus: () => (isKeeper(base) ? base.orderCounts.current() : undefined),
    noncesRemembered: () => base.authenticate.nonces.size,
    shedRequests: () => base.overload?.shed() ?? 0,
    feedPulse: base.markets.feed.pulse,
  })
  watchNode(metrics, {
    ...base.node,
    leads: base.roles.leads,
    commits: new Map(chains.map(({ slug, commits }) => [slug, commits])),
  })
  if (base.sharing.redis !== undefined) watchRedis(metrics, base.sharing.redis)
  watchStream(metrics, base.streamCounts)
  watchDiamonds(metrics, new Map(chains.map(({ slug, diamondWatch }) => [slug, diamondWatch])))
  watchProviders(metrics, new Map(chains.map(({ slug, client }) => [slug, client])))
  watchAccounts(metrics, new Map(chains.map(({ slug, accounts }) => [slug, accounts])))
  const relayers = chains.map(({ slug, facade }) => [slug, facade.relayer] as const)
  watchRelayers(metrics, new Map(relayers.flatMap(([slug, relayer]) => (relayer === null ? [] : [[slug, relayer]]))))
  watchChannels(metrics, 'bezel_facade_stream', base.facadeCounts)
}

/** Registers hooks and routes in the order in which a request passes them. */
function addOperations(base: Base, chains: readonly OpenChain[], node: NodeState, notices: Notices): void {
  const { config, app, store, metrics, authenticate } = base
  const chainOf = (slug: string): OpenChain => servedChainOf(chains, slug)
  const streamDocument = { ...config, bounds: { maxSocketsPerIp: config.streamConnectionsPerIp } }
  boundConnections(app.server, config)
  countAnswers(app, metrics)
  registerHooks(app, { ...base, ...authenticate, trustedProxies: config.trustedProxies, limit: config.ipLimit })
  allowOrigins(app, config)
  promiseCommits(app, {
    ...config,
    commitsOf: (slug) => chains.find((chain) => chain.slug === slug)?.commits,
    all: chains.map(({ commits }) => commits),
  })
  if (!base.roles.isAlone) requireRightClock(app, base.clock)
  serveMetrics(app, { metrics, exposure: config.metrics })
  serveOpenapi(app, config)
  serveAsyncapi(app, streamDocument)
  serveDocs(app, { ...streamDocument, chains: base.chains })
  serveSecurityTxt(app, { ...config, now: base.now })
  const context: RouteContext = {
    chains: base.chains,
    sendHome: serveConsole(app, { ...config, chains: base.chains }),
    store,
    notices,
    authenticate,
    engine: authenticate.engine,
    contractCalls: base.contractCalls,
    registrations: base.registrations,
    trustedProxies: config.trustedProxies,
    domainName: config.domainName,
    agentWritesLimit: config.agentWriteLimit,
    controls: base.controls,
    candles: base.markets.candles,
    markets: new Map(chains.map(({ slug, market }) => [slug, market])),
    notReadyReason: (slug) => notReadyReason(chainOf(slug), node),
    marketsLeftOut: (slug) => chainOf(slug).market.leftOut(),
    marketsWarning: (slug) => chainOf(slug).market.watch.warning(),
    providersWarning: (slug) => providersWarning(chainOf(slug).client.statuses()),
    redisWarning: () => base.sharing.warning(),
    diamondWarning: (slug) => chainOf(slug).diamondWatch.warning(),
    relayerOf: (slug) => chainOf(slug).agents.relayer,
    relayerState: (slug) => relayerState(chainOf(slug), base),
    agentsOf: (slug) => chainOf(slug).agents,
    burnRevoked: (slug, trader) => burnRevoked(chainOf(slug), base, trader),
    accountsOf: (slug) => chainOf(slug).accounts,
    positionsOf: (slug) => chainOf(slug).positionReads,
    logOf: (slug) => chainOf(slug).accountLog,
    followerReason: (slug) => chainOf(slug).follower.reason(),
    isKnown: (slug, trader) => chainOf(slug).follower.isKnown(trader),
    knownSince: (slug) => chainOf(slug).follower.knownSince(),
    ordersOf: (slug) => chainOf(slug).orders,
    previewsOf: (slug) => chainOf(slug).previews,
    now: base.now,
  }
  registerRoutes(app, context, base.roles.has)
  const facade: FacadeRoutesContext = {
    chains: base.chains,
    facadeOf: (slug) => chainOf(slug).facade.reads,
    exchangeOf: (slug) => chainOf(slug).facade.exchange,
    settle: base.roles.isAlone ? undefined : (slug) => settleFresh(chainOf(slug).commits),
    trustedProxies: config.trustedProxies,
  }
  registerFacadeRoutes(app, facade, base.roles.has)
}

/** Burns what the relayer has of revoked agents, or tells what another node has to burn. */
async function burnRevoked(of: OpenChain, { store, now }: Base, trader: Address): Promise<readonly MayBeMined[]> {
  const { relayer } = of.facade
  if (relayer !== null) return relayer.burnRevoked(trader)
  const sender = of.agents.relayer
  return sender === null ? [] : listMayBeMined(store.read, { sender: { chain: of.slug, sender }, now }, trader)
}

/**
 * Returns the reason why a chain can't be used now; `undefined` when its node answers correctly, its markets and prices
 * are fresh, its blocks are caught up with, its contracts are known, and this node may serve.
 */
function notReadyReason(
  { client, market, follower, diamondWatch }: OpenChain,
  node: NodeState,
): NotReadyReason | undefined {
  if (node.isStopping()) return 'stopping'
  if (node.isClockWrong()) return 'clock'
  const reason = market.freshness.marketsReason() ?? follower.reason() ?? diamondWatch.reason()
  return reason ?? (client.isUp() ? undefined : 'chain_lagging')
}

/** Returns a sentence for each provider that is not well; `undefined` when all are. */
function providersWarning(statuses: readonly ProviderStatus[]): string | undefined {
  const ill = statuses.filter(({ state }) => state !== 'ok')
  const sentences = ill.map(({ name, state, reason }) => `Provider ${name} is not well (${state}): ${reason ?? state}.`)
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

function relayerState(of: OpenChain, { controls }: Pick<Base, 'controls'>): RelayerState | undefined {
  const { slug, facade, diamondWatch } = of
  const { relayer } = facade
  if (relayer === null) return undefined
  if (diamondWatch.reason() !== undefined) return { isWorking: false, warning: diamondWatch.warning() }
  const pause = controls.relayerPaused(slug) ?? controls.writesPaused(slug)
  if (pause !== undefined) return { isWorking: false, warning: pauseSentence(slug, pause.reason) }
  const health = relayer.health()
  return { isWorking: health.problem === null, warning: relayerWarning(relayer.address, health) }
}

function chainSource(chain: OpenChain, node: NodeState): ChainSource {
  const { slug, client, follower, market, orders, positions } = chain
  return {
    chain: slug,
    isReady: () => notReadyReason(chain, node) === undefined,
    roundTrips: () => client.roundTrips(),
    head: () => follower.head(),
    finalBlock: () => (follower.head() === undefined ? undefined : Math.max(0, orders.lastFinal())),
    lagBlocks: () => follower.stats().lagBlocks,
    undoneBlocks: () => follower.stats().blocksUndone,
    openPositions: () => positions.size,
    marketsLeftOut: () => market.leftOut().length,
    markets: () => market.watch.stats(),
    unprovenTraders: () => follower.unprovenTraders(),
    snapshot: () => follower.snapshotProgress(),
  }
}
