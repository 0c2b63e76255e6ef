import type { Changes } from './journal/accountLog.ts'
import { forgetOldEvents } from './journal/forgetOldEvents.ts'
import type { Accounts } from './accounts/chainAccounts.ts'
import { startAccounts, type RunningAccounts } from './accounts/startAccounts.ts'
import { CHAINS, StartupError, type ChainSlug, type RunningProgram } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { watchChains, type ChainReadiness, type OnChainStateChange } from './chain/chainReadiness.ts'
import { readChainsFile, readFeedUrl } from './chain/readChainsFile.ts'
import { createRpcClient, type RpcClient } from './chain/rpcClient.ts'
import type { ServedChain } from './chain/servedChain.ts'
import { refuseOtherChain } from './chain/verifyChain.ts'
import { DEFAULT_DOMAIN_NAME, type ServerConfig } from './settings/config.ts'
import { serveDocs } from './docs/serveDocs.ts'
import { createApp } from './http/createApp.ts'
import { allowOrigins } from './http/hooks/cors.ts'
import { registerHooks } from './http/hooks/registerHooks.ts'
import { serveAsyncapi } from './docs/asyncapi/serveAsyncapi.ts'
import { listen } from './http/listen.ts'
import { openAccess, type Access } from './openAccess.ts'
import { serveOpenapi } from './docs/openapi/serveOpenapi.ts'
import { createOrderWaits, type OrderWaits } from './facade/exchange/orderWaits.ts'
import { readRelayerKey } from './facade/relayer/readRelayerKey.ts'
import type { RelayerKey } from './facade/relayer/relayerKey.ts'
import type { Relayer } from './facade/relayer/relayer.ts'
import { relayerWarning } from './facade/relayer/relayerHealth.ts'
import { createFacadeCounts } from './facade/stream/facadeCounts.ts'
import { registerFacadeRoutes } from './http/routes/facade/facadeRoutes.ts'
import { registerRoutes } from './http/routes/registerRoutes.ts'
import { servedChainOf } from './access/servedChainOf.ts'
import { startMarkets, type Markets } from './market/startMarkets.ts'
import { countAnswers } from './metrics/countAnswers.ts'
import { countTransactions } from './metrics/countTransactions.ts'
import { createMetrics, type Metrics } from './metrics/createMetrics.ts'
import { createOrderCounts, type OrderCounts } from './metrics/orderCounts.ts'
import { serveMetrics } from './metrics/serveMetrics.ts'
import type { RelayerState } from './http/routes/system/ready.ts'
import { watchAccounts } from './metrics/watchAccounts.ts'
import { watchChannels } from './metrics/watchChannels.ts'
import { watchRelayers } from './metrics/watchRelayers.ts'
import { watchStream } from './metrics/watchStream.ts'
import { watchDeployment, type ChainSource } from './metrics/watchDeployment.ts'
import { startNotices, type Notices } from './notices/startNotices.ts'
import { writeNotices } from './notices/writeNotices.ts'
import { startFacade, type Facades } from './startFacade.ts'
import { startStream } from './startStream.ts'
import { startTrading, type Trading } from './startTrading.ts'
import { openStore } from './store/openStore.ts'
import { countOrdersByStatus } from './store/orderStore.ts'
import type { Store } from './store/sql.ts'
import { createStreamCounts } from './stream/streamCounts.ts'
import { createTradeTape, type TradeTape } from './stream/topics/tradeTape.ts'

/** Often enough for a probe that decides where traffic goes, rare enough to cost a node nothing. */
const READINESS_INTERVAL_MS = 2_000

/** How long a node may take to answer a batch. */
const NODE_TIMEOUT_MS = 5_000

type Readiness = Pick<ChainReadiness, 'isReady'>

/** Starts the service. The only place where its parts meet. Throws a `StartupError` with nothing left running. */
export async function run(config: ServerConfig): Promise<RunningProgram> {
  const open = new AsyncDisposableStack()
  const close = (): Promise<void> => open.disposeAsync()
  try {
    return { url: await start(config, open), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the service stands on. */
interface Base {
  readonly config: ServerConfig
  readonly app: FastifyInstance
  readonly chains: readonly ServedChain[]
  readonly nodes: ChainReadiness
  readonly metrics: Metrics
  readonly store: Store
  readonly clientOf: (slug: ChainSlug) => RpcClient
  readonly markets: Markets
  readonly access: Access
  readonly relayerKey: RelayerKey | undefined
}

/** What goes on by itself, whoever asks. */
interface Parts extends Base {
  readonly accounts: RunningAccounts
  readonly tapes: ReadonlyMap<ChainSlug, TradeTape>
  readonly trading: Trading
  readonly orderCounts: OrderCounts
  readonly notices: Notices
  readonly readiness: Readiness
  readonly waits: OrderWaits
  readonly facades: Facades
}

/** What is opened is handed to `open`, which closes it in the reverse order. */
async function start(config: ServerConfig, open: AsyncDisposableStack): Promise<string> {
  return serve(await startParts(await openBase(config, open), open), open)
}

async function openBase(config: ServerConfig, open: AsyncDisposableStack): Promise<Base> {
  const chains = readChainsFile(config.chainsFile)
  const feedUrl = feedUrlOf(config)
  const relayerKey = await readRelayerKey({ hex: config.relayerKey, file: config.relayerKeyFile })
  const app = createApp(config.logLevel)
  warnOfSharedDomain(chains, config.domainName, app.log)

  const nodes = await watchChains(chains, { intervalMs: READINESS_INTERVAL_MS, onChange: logChange(app.log) })
  open.defer(() => nodes.close())
  const metrics = createMetrics()
  const store = countTransactions(await openStore(config.dataFolder), metrics)
  open.defer(() => store.close())
  const clientOf = createClients(chains)
  for (const chain of chains) await refuseOtherChain(store, chain, clientOf(chain.slug))
  const markets = startMarkets({
    chains,
    clientOf,
    store,
    feedUrl,
    refreshMs: config.marketsRefreshMs,
    statusMs: config.marketStatusMs,
    now: Date.now,
    random: Math.random,
    log: app.log,
  })
  open.defer(() => markets.close())

  const access = await openAccess(config, {
    chains,
    clientOf,
    store,
    relayer: relayerKey?.address ?? null,
    now: Date.now,
  })
  open.defer(() => access.close())
  app.log.info({ engine: access.engine.name }, 'signatures are verified')
  return { config, app, chains, nodes, metrics, store, clientOf, markets, access, relayerKey }
}

async function startParts(base: Base, open: AsyncDisposableStack): Promise<Parts> {
  const { config, chains, store, markets, access } = base
  const { agentsOf } = access
  const { log } = base.app
  const marketsOf = (slug: ChainSlug) => markets.byChain.get(slug)!.watch.current()
  const common = { chains, store, agentsOf, now: Date.now, log }

  const accounts = startAccounts({
    ...common,
    collateralsOf: (slug) => marketsOf(slug)?.collaterals,
    // Accounts are told of to logs, and blocks tell which accounts to look at again: nobody asks before both are there.
    logOf: (slug) => trading.byChain.get(slug)!.accountLog,
    refreshMs: config.accountRefreshMs,
  })
  open.defer(() => accounts.close())
  const orderCounts = createOrderCounts(await countOrdersByStatus(store.read))
  const waits = createOrderWaits()
  const tapes = new Map(chains.map(({ slug }) => [slug, createTradeTape({ chain: slug, store })]))
  const trading = await startTrading({
    ...common,
    markets,
    settings: config,
    headPollMs: config.headPollMs,
    alsoKeep: writeNotices,
    onChanges(changes) {
      orderCounts.apply(changes.orders)
      waits.apply(changes)
      tapes.get(changes.chain)!.apply(changes)
      // A request changes nothing on the chain.
      if (changes.cause.block !== null) forgetTouched(changes, accounts.byChain.get(changes.chain)!)
    },
  })
  open.defer(() => trading.close())
  const notices = startNotices({ ...common, marketsOf })
  open.defer(() => notices.close())
  const onError = (error: unknown): void => log.error({ err: error }, 'old events could not be forgotten')
  open.defer(forgetOldEvents({ ...common, keepDays: config.eventsKeepDays, onError }))
  const readiness = readinessOf(base.nodes, markets, trading)
  const facades = await startFacade({ ...base, accounts, trading, waits, log }, open)
  return { ...base, accounts, tapes, trading, orderCounts, notices, readiness, waits, facades }
}

/** Opens the doors, last of all. */
async function serve(parts: Parts, open: AsyncDisposableStack): Promise<string> {
  const { config, app, chains, metrics, accounts, trading, orderCounts, readiness } = parts
  watchDeployment(metrics, {
    chains: chains.map(({ slug }) => chainSource(slug, trading, readiness, parts.clientOf(slug))),
    ordersByStatus: () => orderCounts.current(),
    noncesRemembered: () => parts.access.authenticate.nonces.size,
  })
  const counts = createStreamCounts()
  watchStream(metrics, counts)
  watchAccounts(metrics, accounts.byChain)
  watchRelayers(metrics, relayersOf(parts.facades))
  const facadeCounts = createFacadeCounts()
  watchChannels(metrics, 'bezel_facade_stream', facadeCounts)
  addOperations(parts)
  open.defer(() => app.close())
  // Those who are held for a fill are answered first, so that nothing waits for them.
  open.defer(() => parts.waits.close())
  const stream = startStream(app.server, { ...parts, counts, facadeCounts, log: app.log })
  open.defer(() => stream.close())
  const url = await listen(app, config)
  app.log.info({ url, chains: chains.map(({ slug }) => slug) }, 'service is up')
  return url
}

/** Everything that answers requests, in the order in which a request passes it. */
function addOperations(of: Parts): void {
  const { config, app, chains, store, access, accounts, trading, notices, readiness, facades } = of
  countAnswers(app, of.metrics)
  registerHooks(app, { ...access, limit: config.ipLimit })
  allowOrigins(app, config)
  serveMetrics(app, { metrics: of.metrics, exposure: config.metrics })
  serveOpenapi(app, config)
  const streamDocument = { ...config, bounds: { maxSocketsPerIp: config.streamConnectionsPerIp } }
  serveAsyncapi(app, streamDocument)
  serveDocs(app, streamDocument)
  registerRoutes(app, {
    ...access,
    chains,
    store,
    readiness,
    notices,
    domainName: config.domainName,
    relayerOf: (slug) => facades.get(slug)!.relayer?.address ?? null,
    relayerState: (slug) => relayerStateOf(facades, slug),
    markets: of.markets.byChain,
    candles: of.markets.candles,
    agentWritesLimit: config.agentWriteLimit,
    accountsOf: (slug) => accounts.byChain.get(slug)!,
    positionsOf: (slug) => trading.byChain.get(slug)!.reads,
    logOf: (slug) => trading.byChain.get(slug)!.accountLog,
    followerReason: (slug) => trading.byChain.get(slug)!.follower.reason(),
    ordersOf: (slug) => trading.byChain.get(servedChainOf(chains, slug).slug)!.orders,
  })
  registerFacadeRoutes(app, {
    chains,
    facadeOf: (slug) => facades.get(slug)!.reads,
    exchangeOf: (slug) => facades.get(slug)!.exchange,
    trustedProxies: config.trustedProxies,
  })
}

function forgetTouched({ orders, positions }: Changes, accounts: Pick<Accounts, 'forget'>): void {
  for (const { record } of [...orders, ...positions]) accounts.forget(record.trader)
}

/** A chain is ready when its node is right, its markets are loaded and fresh, the price feed is alive, and its blocks are caught up with. */
function readinessOf(nodes: ChainReadiness, markets: Markets, trading: Trading): Readiness {
  return {
    isReady: (slug) =>
      nodes.isReady(slug) &&
      markets.byChain.get(slug)?.freshness.marketsReason() === undefined &&
      trading.byChain.get(slug)?.follower.reason() === undefined,
  }
}

function relayersOf(facades: Facades): ReadonlyMap<ChainSlug, Relayer> {
  return new Map([...facades].flatMap(([slug, { relayer }]) => (relayer === null ? [] : [[slug, relayer] as const])))
}

function relayerStateOf(facades: Facades, slug: ChainSlug): RelayerState | undefined {
  const { relayer } = facades.get(slug)!
  if (relayer === null) return undefined
  const health = relayer.health()
  return { isWorking: health.problem === null, warning: relayerWarning(relayer.address, health) }
}

function chainSource(chain: ChainSlug, trading: Trading, { isReady }: Readiness, client: RpcClient): ChainSource {
  const { follower, positions } = trading.byChain.get(chain)!
  return {
    chain,
    isReady: () => isReady(chain),
    roundTrips: () => client.roundTrips(),
    head: () => follower.head(),
    lagBlocks: () => follower.stats().lagBlocks,
    undoneBlocks: () => follower.stats().blocksUndone,
    openPositions: () => positions.size,
  }
}

function createClients(chains: readonly ServedChain[]): (slug: ChainSlug) => RpcClient {
  const clients = new Map(
    chains.map(({ slug, rpcUrl, chainId }) => [
      slug,
      createRpcClient({ url: rpcUrl, timeoutMs: NODE_TIMEOUT_MS, chainId }),
    ]),
  )
  return (slug) => clients.get(slug)!
}

function feedUrlOf({ feedUrl, chainsFile }: ServerConfig): string {
  const url = feedUrl ?? readFeedUrl(chainsFile)
  if (url !== undefined) return url
  throw new StartupError(`The chains file ${chainsFile} names no price feed: add feedUrl to it or set BEZEL_FEED_URL.`)
}

/** A signature is bound to name, chain and Diamond, so deployments that share all three would accept each other's requests. */
function warnOfSharedDomain(chains: readonly ServedChain[], domainName: string, log: FastifyBaseLogger): void {
  const live = chains.filter(({ slug, diamond }) => diamond === CHAINS[slug].liveDiamond)
  if (domainName !== DEFAULT_DOMAIN_NAME || live.length === 0) return
  log.warn(
    { chains: live.map(({ slug }) => slug) },
    'live chains use the default signing domain name, so a request signed for another such deployment is valid here too: set BEZEL_DOMAIN_NAME',
  )
}

function logChange(log: FastifyBaseLogger): OnChainStateChange {
  return (chain, state) => {
    if (state === 'ready') log.info({ chain }, 'chain is ready')
    else log.warn({ chain, state }, 'chain is not ready')
  }
}
