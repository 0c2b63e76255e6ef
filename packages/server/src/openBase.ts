import { join } from 'node:path'
import process from 'node:process'
import { requestDomain, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { AuthenticateOptions } from './access/authenticateCall.ts'
import { openControls, type Controls } from './access/controls.ts'
import type { Limits } from './access/limits.ts'
import { createOverloadGuard, OVERLOAD_TICK_MS, type OverloadGuard } from './access/overload.ts'
import { createRegistrationLimit, type RegistrationLimit } from './access/registrationLimit.ts'
import { openSharing, refuseLoneRedis, type Sharing } from './access/sharing.ts'
import { openRegistry } from './agents/registry.ts'
import { refuseWrongNodes } from './chain/providers/chainIdentity.ts'
import { readChainsFile, type ServedChain } from './chain/servedChain.ts'
import { operatorFiles, requireFeedUrl } from './check/configured.ts'
import { createOrderWaits, type OrderWaits } from './facade/exchange/orderWaits.ts'
import { readRelayerKey } from './facade/relayer/readRelayerKey.ts'
import type { RelayerKey } from './facade/relayer/relayerKey.ts'
import { createFacadeNonces, type FacadeNonces } from './facade/signing/facadeNonces.ts'
import { createFacadeCounts, type FacadeCounts } from './facade/stream/channels/facadeChannel.ts'
import { every } from './ground/every.ts'
import { createTimeSliced, type TimeSliced } from './ground/timeSliced.ts'
import { createApp } from './http/createApp.ts'
import { createLogStream } from './http/logStream.ts'
import { createCommits, type Commits } from './journal/commits.ts'
import { createRoles, type Roles } from './journal/roles.ts'
import { openMarketSources, type MarketSources } from './market/openMarkets.ts'
import { countTransactions } from './metrics/createMetrics.ts'
import { createMetrics, type Metrics } from './metrics/createMetrics.ts'
import { createOrderCounts, type OrderCounts } from './metrics/orderCounts.ts'
import { watchSignatures, type NodeSources } from './metrics/watchNode.ts'
import { refuseUnsafeStart } from './refuseUnsafeStart.ts'
import type { ServerConfig } from './settings/config.ts'
import { selectEngine } from './signatures/engines.ts'
import { compareClocks, type ClockComparison } from './store/databaseClock.ts'
import { lockDataFolder } from './store/lockDataFolder.ts'
import { newNodeId, openNode, type OwnNode } from './store/nodeStore.ts'
import { openConfiguredStore } from './store/openConfiguredStore.ts'
import { finishMigrations } from './store/openStore.ts'
import type { Store } from './store/sql.ts'
import { createStreamCounts, type StreamCounts } from './stream/streamCounts.ts'
import packageJson from '../package.json' with { type: 'json' }

/** The parts of a deployment that all its chains share. */
export interface Base {
  readonly config: ServerConfig
  readonly app: FastifyInstance
  readonly log: FastifyBaseLogger
  readonly chains: readonly ServedChain[]
  readonly metrics: Metrics
  readonly store: Store
  /** The commits of all chains, which everything that is kept in memory follows. */
  readonly commits: Commits
  /** The roles of this node; work of which one node at a time does its part is started by them. */
  readonly roles: Roles
  /** The name and the version of this process, which operators see. */
  readonly node: NodeName & Pick<NodeSources, 'lostLines'>
  readonly markets: MarketSources
  /** Pauses and budgets that the operator has set. */
  readonly controls: Controls
  /** Limits and nonces, in this process or shared with other nodes, and the wake-ups that nodes send each other. */
  readonly sharing: Sharing
  /** Authenticates requests: agents, keys, signatures, nonces and limits. */
  readonly authenticate: AuthenticateOptions
  /** Limits calls to contract wallets, separately from the limits of requests. */
  readonly contractCalls: Limits
  readonly registrations: RegistrationLimit
  /** `undefined` makes the facade of every chain read-only; so does a node without the role `relayer`. */
  readonly relayerKey: RelayerKey | undefined
  readonly facadeNonces: FacadeNonces
  /** Facade requests that wait until their order is filled. */
  readonly waits: OrderWaits
  readonly orderCounts: OrderCounts
  readonly streamCounts: StreamCounts
  readonly facadeCounts: FacadeCounts
  readonly replays: TimeSliced
  /** Sheds anonymous requests when there is too much work; `undefined` where that is switched off. */
  readonly overload: OverloadGuard | undefined
  /** The clock of this machine beside the database's; never wrong with SQLite, which has this machine's. */
  readonly clock: Pick<ClockComparison, 'isWrong'>
  readonly now: () => number
}

type NodeName = Pick<NodeSources, 'id' | 'version'>

const NONCE_FILE_NAME = 'nonces.log'

/**
 * Opens the parts that all chains share; `open` closes them in the reverse order. Throws a `StartupError` that says
 * what to correct.
 */
export async function openBase(config: ServerConfig, open: AsyncDisposableStack): Promise<Base> {
  const now = Date.now
  const chains = readChainsFile(config.chainsFile)
  const feedUrl = requireFeedUrl(config)
  const relayerKey = await openRelayerKey(config)
  refuseLoneRedis(config)
  refuseUnsafeStart({ chains, ...config, relayer: relayerKey?.address })
  const nodeId = newNodeId()
  const stream = createLogStream(process.stderr)
  const app = createApp(config.logLevel, { node: nodeId, stream })
  const { log } = app
  const lock = lockDataFolder(config.dataFolder, operatorFiles(config))
  // Released after everything else that uses the folder has been closed.
  open.defer(() => lock.release())
  warnOfKey(config, log)

  await refuseWrongNodes(chains)
  const metrics = createMetrics()
  const { store, roles, node, clock, servingNodes } = await openData(config, { nodeId, metrics, log, now }, open)
  const { marketStatusMs: statusMs, quietPriceMs: quietMs, repairPauseMs } = config
  const markets = openMarketSources({
    store,
    feedUrl,
    statusMs,
    quietMs,
    repairPauseMs,
    now,
    random: Math.random,
    log,
  })
  open.defer(() => markets.close())
  // Written by the keeper, once this node is that.
  if (!roles.isAlone) await markets.candles.writeTo(undefined)
  const controls = await openControls(store, (error) => log.error({ err: error }, 'controls could not be read'))
  open.defer(() => controls.close())
  const nonceFile = join(config.dataFolder, NONCE_FILE_NAME)
  const sharing = await openSharing({ ...config, store, nonceFile, liveNodes: servingNodes, now, log }, open)
  const waits = createOrderWaits()
  const commits = openCommits({ store, sharing, waits, now, log }, open)
  const authenticate = await openAuthentication(config, { chains, store, commits, sharing, metrics, now })
  log.info({ engine: authenticate.engine.name }, 'signatures are verified')
  return {
    config,
    app,
    log,
    chains,
    metrics,
    store,
    commits,
    roles,
    node: { ...node, lostLines: stream.lost },
    markets,
    controls,
    sharing,
    authenticate,
    contractCalls: sharing.limitsOf('contracts'),
    registrations: createRegistrationLimit(sharing.limitsOf('registrations'), config.registrationLimit),
    relayerKey,
    facadeNonces: await createFacadeNonces({ store, now }),
    waits,
    orderCounts: createOrderCounts({ onError: (error) => log.error({ err: error }, 'orders could not be counted') }),
    streamCounts: createStreamCounts(),
    facadeCounts: createFacadeCounts(),
    replays: createTimeSliced(),
    overload: openOverloadGuard(config, open),
    clock,
    now,
  }
}

async function openRelayerKey({ roles, relayerKey, relayerKeyFile }: ServerConfig): Promise<RelayerKey | undefined> {
  return roles.includes('relayer') ? readRelayerKey({ hex: relayerKey, file: relayerKeyFile }) : undefined
}

function warnOfKey({ roles, relayerKey, relayerKeyFile }: ServerConfig, log: FastifyBaseLogger): void {
  if (roles.includes('relayer') || (relayerKey ?? relayerKeyFile) === undefined) return
  log.warn('this node has not the role relayer, so the key of the relayer is not read: take it away from here')
}

/** Opens the store, and enters this node with its roles. */
async function openData(
  config: ServerConfig,
  { nodeId, metrics, log, now }: Pick<Base, 'metrics' | 'log' | 'now'> & { readonly nodeId: string },
  open: AsyncDisposableStack,
): Promise<Pick<Base, 'store' | 'roles' | 'clock'> & Pick<OwnNode, 'servingNodes'> & { readonly node: NodeName }> {
  const { version } = packageJson
  const wait = { isDeferred: true, onWait: (sentence: string) => log.warn(sentence) }
  const opened = await openConfiguredStore(config, wait, metrics.store)
  open.defer(() => opened.close())
  const rest = await finishMigrations(opened, (error) => log.error({ err: error }, 'the schema could not be changed'))
  open.defer(() => rest?.close())
  const clock = compareClocks({ now })
  // Its signs of life are not among the transactions that are counted.
  const node = await openNode(opened, {
    id: nodeId,
    version,
    roles: config.roles,
    onTime: opened.read.engine === 'sqlite' ? undefined : tellingWrong(clock, log),
    onError: (error) => log.error({ err: error }, 'the sign of life could not be written'),
  })
  open.defer(() => node.close())
  const store = countTransactions(opened, metrics)
  const mayLead = (): boolean => !clock.isWrong()
  const roles = createRoles({ roles: config.roles, store, holder: node.id, mayLead, log })
  return { store, roles, node: { id: node.id, version }, clock, servingNodes: node.servingNodes }
}

/** Returns a function that takes over the database's time, and logs when the clock of this machine becomes wrong. */
function tellingWrong(clock: ClockComparison, log: FastifyBaseLogger): ClockComparison['note'] {
  let wasWrong = false
  return (reading) => {
    clock.note(reading)
    const isWrong = clock.isWrong()
    if (isWrong && !wasWrong) log.error({ aheadMs: clock.aheadMs() }, "the clock is not the database's: set it")
    if (!isWrong && wasWrong) log.info("the clock is the database's again")
    wasWrong = isWrong
  }
}

/** Opens the commits of all nodes, each of which wakes the others. */
function openCommits(
  { store, sharing, waits, now, log }: Pick<Base, 'store' | 'sharing' | 'waits' | 'now' | 'log'>,
  open: AsyncDisposableStack,
): Commits {
  const commits = createCommits(store, {
    now,
    isAwaited: waits.isAwaited,
    onOwn: sharing.wakeups.publish,
    onError: (error) => log.error({ err: error }, 'commits could not be followed'),
  })
  open.defer(() => commits.close())
  open.defer(sharing.wakeups.onWake(() => commits.wake()))
  return commits
}

function openOverloadGuard(
  { overloadPercent, overloadWaitMs }: ServerConfig,
  open: AsyncDisposableStack,
): OverloadGuard | undefined {
  if (overloadPercent === 0) return undefined
  const guard = createOverloadGuard({ maxUtilisation: overloadPercent / 100, maxWaitMs: overloadWaitMs })
  const ticks = every(OVERLOAD_TICK_MS, guard.tick)
  open.defer(() => ticks.close())
  return guard
}

async function openAuthentication(
  config: ServerConfig,
  {
    chains,
    store,
    commits,
    sharing,
    metrics,
    now,
  }: Pick<Base, 'chains' | 'store' | 'commits' | 'sharing' | 'metrics' | 'now'>,
): Promise<AuthenticateOptions> {
  const domains = Object.fromEntries(
    chains.map(({ slug, chainId, diamond }) => [slug, requestDomain({ name: config.domainName, chainId, diamond })]),
  )
  return {
    registry: await openRegistry(store, { now, maxClaims: config.maxClaims, commits }),
    engine: watchSignatures(metrics, await selectEngine()),
    limits: sharing.limits,
    agentLimit: config.agentLimit,
    admission: sharing.admission,
    nonces: sharing.nonces,
    headerPrefix: config.headerPrefix,
    domainOf: (slug: ChainSlug) => domains[slug]!,
    now,
  }
}
