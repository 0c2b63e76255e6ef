import { createRefusalAudit } from './access/auditLog.ts'
import type { Controls } from './access/controls.ts'
import type { OpenChainAccounts } from './accounts/openChainAccounts.ts'
import type { LivePositions } from './accounts/positions/livePositions.ts'
import type { Finality } from './chain/finality.ts'
import type { RpcClient } from './chain/rpcClient.ts'
import type { ServedChain } from './chain/servedChain.ts'
import type { ExchangeParts, TradingParts } from './facade/exchange/exchangeParts.ts'
import { startChores } from './facade/exchange/chores.ts'
import { keepRelayedHashes } from './facade/exchange/relayedHashes.ts'
import { createFacadeReads, type FacadeReads } from './facade/facadeReads.ts'
import { guardRelayer } from './facade/relayer/guardRelayer.ts'
import { type Relayer, startRelayer } from './facade/relayer/startRelayer.ts'
import { defaultRelayerSettings, type RelayerSettings } from './facade/relayer/relayerSettings.ts'
import { allowedSources, isLiveMainnet } from './facade/signing/phantomAgent.ts'
import { wakeRelayer } from './followCommits.ts'
import type { Follower } from './follower/startFollower.ts'
import type { ChainHead } from './journal/clock.ts'
import { settleFresh } from './journal/commits.ts'
import type { Leader } from './journal/roles.ts'
import type { ChainMarketData } from './market/openMarkets.ts'
import type { Base } from './openBase.ts'
import type { ChainOrders } from './orders/chainOrders.ts'

/** The parts of a chain that its facade is made from. */
export interface FacadeBase {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly market: ChainMarketData
  /** Open positions in memory, updated with every commit. */
  readonly positions: LivePositions
  readonly head: ChainHead
  readonly finality: Finality
  readonly accounts: OpenChainAccounts
  readonly follower: Follower
  readonly orders: ChainOrders
}

/** The facade of one chain, shaped like another exchange's API. */
export interface ChainFacade {
  readonly reads: FacadeReads
  readonly exchange: ExchangeParts
  /** `null` on a chain where the facade is read-only. */
  readonly relayer: Relayer | null
}

/** Opens the facade of a chain, its relayer and the relayer's background work; `open` closes them. */
export async function openFacade(of: FacadeBase, base: Base, open: AsyncDisposableStack): Promise<ChainFacade> {
  const { config, store, roles, authenticate, now } = base
  const reads = createReads(of, base)
  const relayer = await openRelayer(of, base)
  if (relayer !== null) open.defer(() => relayer.close())
  const exchange: ExchangeParts = {
    orders: of.orders,
    store,
    reads,
    relayer,
    isRelayerElsewhere: !roles.has('relayer'),
    registry: authenticate.registry,
    nonces: base.facadeNonces,
    engine: authenticate.engine,
    sources: allowedSources(of.chain, config.facadeSources),
    needsOwnApproval: isLiveMainnet(of.chain),
    controls: base.controls,
    limits: authenticate.limits,
    agentLimit: config.agentLimit,
    agentWritesLimit: config.agentWriteLimit,
    approvals: base.contractCalls,
    registrations: base.registrations,
    settle: roles.isAlone ? undefined : () => settleFresh(base.commits.of(of.chain.slug)),
    overload: base.overload,
    waits: base.waits,
    fillWaitMs: config.facadeFillWaitMs,
    now,
  }
  if (relayer !== null) {
    const onError = (error: unknown): void =>
      base.log.error({ chain: of.chain.slug, err: error }, 'what another node revoked could not be burnt')
    if (!roles.isAlone) wakeRelayer(base.commits.of(of.chain.slug), relayer, onError)
    const name = { role: 'relayer', chain: of.chain.slug } as const
    const lead = (leader: Leader): Promise<void> => leadRelayer({ ...exchange, relayer }, base, { relayer, leader })
    // Nodes without the key name the address to traders.
    await roles.lead(name, open, lead, () => relayer.address)
  }
  return { reads, exchange, relayer }
}

/** Sends, and does the chores, which need the relayer's key, while this node leads. */
async function leadRelayer(
  parts: TradingParts,
  { roles, log }: Base,
  { relayer, leader }: { readonly relayer: Relayer; readonly leader: Leader },
): Promise<void> {
  const { store, open } = leader
  if (!roles.isAlone) {
    await relayer.lead(store)
    open.defer(() => relayer.lead(undefined))
  }
  const orders = { ...parts.orders, store, accountLog: leader.fencedLog(parts.orders.accountLog) }
  const chores = startChores({ ...parts, store, orders }, log)
  open.defer(() => chores.close())
}

async function openRelayer({ chain, client, head, finality, orders }: FacadeBase, base: Base): Promise<Relayer | null> {
  const { relayerKey: key, roles, store, controls, now, log } = base
  if (key === undefined || !chain.writes) return null
  const relayer = await startRelayer({
    chain,
    client,
    store,
    key,
    settings: relayerSettings(chain, controls),
    isStandby: !roles.isAlone,
    isShared: !roles.isAlone,
    now,
    log,
    head: head.current,
    finality,
    onHashes: (sql, hashes) => keepRelayedHashes(orders, sql, hashes),
  })
  const onError = (error: unknown): void =>
    log.error({ chain: chain.slug, err: error }, 'a refusal could not be audited')
  return guardRelayer(relayer, { chain: chain.slug, controls, refusals: createRefusalAudit({ store, now, onError }) })
}

function relayerSettings({ slug, relayer }: ServedChain, controls: Pick<Controls, 'budgets'>): RelayerSettings {
  const { traderDayWei, deploymentDayWei, ...settings } = relayer
  const budgets = {
    ...(traderDayWei !== undefined && { traderDayWei }),
    ...(deploymentDayWei !== undefined && { deploymentDayWei }),
  }
  return { ...defaultRelayerSettings(slug, () => ({ ...budgets, ...controls.budgets(slug) })), ...settings }
}

function createReads(of: FacadeBase, base: Base): FacadeReads {
  const { feed, candles } = base.markets
  const { market, positions, follower, accounts } = of
  return createFacadeReads({
    chain: of.chain.slug,
    now: base.now,
    market,
    book: feed.book,
    hours: market.hours,
    candles,
    store: base.store,
    positions,
    follower,
    accounts,
    registry: base.authenticate.registry,
    requestsPerMinute: base.config.ipLimit,
    diamond: of.chain.diamond,
  })
}
