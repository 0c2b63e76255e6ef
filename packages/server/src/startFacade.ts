import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { RunningAccounts } from './accounts/startAccounts.ts'
import type { RpcClient } from './chain/rpcClient.ts'
import type { ServedChain } from './chain/servedChain.ts'
import type { ServerConfig } from './settings/config.ts'
import type { ExchangeParts } from './facade/exchange/exchangeParts.ts'
import type { OrderWaits } from './facade/exchange/orderWaits.ts'
import { startChores } from './facade/exchange/startChores.ts'
import { createFacadeReads, type FacadeReads } from './facade/facadeReads.ts'
import type { Relayer } from './facade/relayer/relayer.ts'
import type { RelayerKey } from './facade/relayer/relayerKey.ts'
import { defaultRelayerSettings } from './facade/relayer/relayerSettings.ts'
import { startRelayer } from './facade/relayer/startRelayer.ts'
import { allowedSources } from './facade/signing/allowedSources.ts'
import { createFacadeNonces, type FacadeNonces } from './facade/signing/facadeNonces.ts'
import type { Access } from './openAccess.ts'
import type { Markets } from './market/startMarkets.ts'
import type { Trading } from './startTrading.ts'
import { setSubmitted } from './store/attemptStore.ts'
import type { Store } from './store/sql.ts'

/** What the exchange-shaped facade of one chain answers from. */
export interface ChainFacade {
  readonly reads: FacadeReads
  readonly exchange: ExchangeParts
  /** `null`: a chain on which it only reads. */
  readonly relayer: Relayer | null
}

export type Facades = ReadonlyMap<ChainSlug, ChainFacade>

export interface FacadeOptions {
  readonly config: ServerConfig
  readonly chains: readonly ServedChain[]
  readonly clientOf: (slug: ChainSlug) => RpcClient
  readonly store: Store
  readonly markets: Markets
  readonly access: Access
  readonly accounts: RunningAccounts
  readonly trading: Trading
  /** Told of every commit that `trading` makes. */
  readonly waits: OrderWaits
  /** Without one no chain has a relayer. */
  readonly relayerKey: RelayerKey | undefined
  readonly log: FastifyBaseLogger
}

/** Starts the relayers and what they do by themselves; handed to `open`, which closes them. */
export async function startFacade(options: FacadeOptions, open: AsyncDisposableStack): Promise<Facades> {
  const nonces = await createFacadeNonces({ store: options.store, now: Date.now })
  const facades = new Map<ChainSlug, ChainFacade>()
  for (const chain of options.chains) facades.set(chain.slug, await startChain(chain, { ...options, nonces }, open))
  return facades
}

async function startChain(
  chain: ServedChain,
  options: FacadeOptions & { readonly nonces: FacadeNonces },
  open: AsyncDisposableStack,
): Promise<ChainFacade> {
  const { config, access, store, trading, nonces, waits, log } = options
  const reads = readsOf(chain.slug, options)
  const relayer = await relayerOf(chain, options)
  if (relayer !== null) open.defer(() => relayer.close())
  const exchange: ExchangeParts = {
    orders: trading.byChain.get(chain.slug)!.orders,
    store,
    reads,
    relayer,
    registry: access.agentsOf(chain.slug).registry,
    nonces,
    engine: access.engine,
    sources: allowedSources(chain, config.facadeSources),
    limits: access.limits,
    agentLimit: config.agentLimit,
    agentWritesLimit: config.agentWriteLimit,
    approvals: access.contractCalls,
    waits,
    fillWaitMs: config.facadeFillWaitMs,
    now: Date.now,
  }
  if (relayer !== null) {
    const chores = startChores({ ...exchange, relayer }, log)
    open.defer(() => chores.close())
  }
  return { reads, exchange, relayer }
}

async function relayerOf(chain: ServedChain, options: FacadeOptions): Promise<Relayer | null> {
  const { relayerKey: key, clientOf, store, trading, log } = options
  if (key === undefined || !chain.writes) return null
  const { follower } = trading.byChain.get(chain.slug)!
  return startRelayer({
    chain,
    client: clientOf(chain.slug),
    store,
    key,
    settings: { ...defaultRelayerSettings(chain.slug), ...chain.relayer },
    now: Date.now,
    log,
    head: () => follower.head(),
    onHash: (sql, { attemptId, hash }) => setSubmitted(sql, attemptId, hash, Date.now()),
  })
}

function readsOf(slug: ChainSlug, options: FacadeOptions): FacadeReads {
  const { config, store, markets, access, accounts, trading } = options
  const { positions, follower } = trading.byChain.get(slug)!
  return createFacadeReads({
    chain: slug,
    now: Date.now,
    market: markets.byChain.get(slug)!,
    book: markets.feed.book,
    hours: markets.hours,
    candles: markets.candles,
    store,
    positions,
    follower,
    accounts: accounts.byChain.get(slug)!,
    registry: access.agentsOf(slug).registry,
    requestsPerMinute: config.ipLimit,
  })
}
