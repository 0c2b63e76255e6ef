import { join } from 'node:path'
import { CHAINS, requestDomain, StartupError, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AuthenticateOptions } from './access/authenticateCall.ts'
import { createInProcessLimits } from './access/inProcessLimits.ts'
import type { Limits } from './access/limits.ts'
import { openNonces } from './access/nonces.ts'
import { openRegistry } from './agents/registry.ts'
import { watchChains, type ChainReadiness, type OnChainStateChange } from './chain/chainReadiness.ts'
import { readChainsFile, readFeedUrl, type ServedChain } from './chain/servedChain.ts'
import { createOrderWaits, type OrderWaits } from './facade/exchange/orderWaits.ts'
import { readRelayerKey } from './facade/relayer/readRelayerKey.ts'
import type { RelayerKey } from './facade/relayer/relayerKey.ts'
import { createFacadeNonces, type FacadeNonces } from './facade/signing/facadeNonces.ts'
import { createFacadeCounts, type FacadeCounts } from './facade/stream/channels/facadeChannel.ts'
import { createTimeSliced, type TimeSliced } from './ground/timeSliced.ts'
import { createApp } from './http/createApp.ts'
import { openMarketSources, type MarketSources } from './market/openMarkets.ts'
import { countTransactions } from './metrics/createMetrics.ts'
import { createMetrics, type Metrics } from './metrics/createMetrics.ts'
import { createOrderCounts, type OrderCounts } from './metrics/watchDeployment.ts'
import { DEFAULT_DOMAIN_NAME, type ServerConfig } from './settings/config.ts'
import { selectEngine } from './signatures/engines.ts'
import { openStore } from './store/openStore.ts'
import { countOrdersByStatus } from './store/orderStore.ts'
import type { Store } from './store/sql.ts'
import { createStreamCounts, type StreamCounts } from './stream/streamCounts.ts'

/** The parts of a deployment that all its chains share. */
export interface Base {
  readonly config: ServerConfig
  readonly app: FastifyInstance
  readonly log: FastifyBaseLogger
  readonly chains: readonly ServedChain[]
  readonly nodes: ChainReadiness
  readonly metrics: Metrics
  readonly store: Store
  readonly markets: MarketSources
  /** Authenticates requests: agents, keys, signatures, nonces and limits. */
  readonly authenticate: AuthenticateOptions
  /** Limits calls to contract wallets, separately from the limits of requests. */
  readonly contractCalls: Limits
  /** `undefined` makes the facade of every chain read-only. */
  readonly relayerKey: RelayerKey | undefined
  readonly facadeNonces: FacadeNonces
  /** Facade requests that wait until their order is filled. */
  readonly waits: OrderWaits
  readonly orderCounts: OrderCounts
  readonly streamCounts: StreamCounts
  readonly facadeCounts: FacadeCounts
  readonly replays: TimeSliced
  readonly now: () => number
}

/**
 * Pause between two checks of the nodes: short enough for a load balancer's probe, long enough to cost a node nothing.
 */
const READINESS_INTERVAL_MS = 2_000

const NONCE_FILE_NAME = 'nonces.log'

/**
 * Opens the parts that all chains share; `open` closes them in the reverse order. Throws a `StartupError` that says
 * what to correct.
 */
export async function openBase(config: ServerConfig, open: AsyncDisposableStack): Promise<Base> {
  const now = Date.now
  const chains = readChainsFile(config.chainsFile)
  const feedUrl = requireFeedUrl(config)
  const relayerKey = await readRelayerKey({ hex: config.relayerKey, file: config.relayerKeyFile })
  const app = createApp(config.logLevel)
  const { log } = app
  warnOfSharedDomain(chains, config.domainName, log)

  const nodes = await watchChains(chains, { intervalMs: READINESS_INTERVAL_MS, onChange: logChange(log) })
  open.defer(() => nodes.close())
  const metrics = createMetrics()
  const store = countTransactions(await openStore(config.dataFolder), metrics)
  open.defer(() => store.close())
  const { marketStatusMs: statusMs, quietPriceMs: quietMs } = config
  const markets = openMarketSources({ store, feedUrl, statusMs, quietMs, now, random: Math.random, log })
  open.defer(() => markets.close())
  const authenticate = await openAuthentication(config, { chains, store, now })
  open.defer(() => authenticate.nonces.close())
  log.info({ engine: authenticate.engine.name }, 'signatures are verified')
  return {
    config,
    app,
    log,
    chains,
    nodes,
    metrics,
    store,
    markets,
    authenticate,
    contractCalls: createInProcessLimits(),
    relayerKey,
    facadeNonces: await createFacadeNonces({ store, now }),
    waits: createOrderWaits(),
    orderCounts: createOrderCounts(await countOrdersByStatus(store.read)),
    streamCounts: createStreamCounts(),
    facadeCounts: createFacadeCounts(),
    replays: createTimeSliced(),
    now,
  }
}

async function openAuthentication(
  config: ServerConfig,
  { chains, store, now }: Pick<Base, 'chains' | 'store' | 'now'>,
): Promise<AuthenticateOptions> {
  const domains = Object.fromEntries(
    chains.map(({ slug, chainId, diamond }) => [slug, requestDomain({ name: config.domainName, chainId, diamond })]),
  )
  return {
    registry: await openRegistry(store),
    engine: await selectEngine(),
    limits: createInProcessLimits(),
    agentLimit: config.agentLimit,
    nonces: await openNonces({ store, file: join(config.dataFolder, NONCE_FILE_NAME), now }),
    headerPrefix: config.headerPrefix,
    domainOf: (slug: ChainSlug) => domains[slug]!,
    now,
  }
}

function requireFeedUrl({ feedUrl, chainsFile }: ServerConfig): string {
  const url = feedUrl ?? readFeedUrl(chainsFile)
  if (url !== undefined) return url
  throw new StartupError(`The chains file ${chainsFile} names no price feed: add feedUrl to it or set BEZEL_FEED_URL.`)
}

/**
 * Warns of a signing domain that other deployments may share. A signature is bound to name, chain and Diamond, so
 * deployments that share all three accept each other's requests.
 */
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
