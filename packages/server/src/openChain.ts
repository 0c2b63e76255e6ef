import { randomBytes } from 'node:crypto'
import { CHAINS, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { openChainAccounts, type OpenChainAccounts } from './accounts/openChainAccounts.ts'
import { openLivePositions, type LivePositions } from './accounts/positions/livePositions.ts'
import { createLoggedPositions } from './accounts/positions/loggedPositions.ts'
import { createPositionReads, type PositionReads } from './accounts/positions/positionReads.ts'
import { createKnownTerms, type KnownTerms } from './accounts/positions/traderTerms.ts'
import { createChainAgents, requiredDelegate, type ChainAgents } from './agents/chainAgents.ts'
import { openDiamondWatch, type DiamondWatch } from './chain/diamondWatch.ts'
import { createFinality } from './chain/finality.ts'
import { createMulticallClient } from './chain/multicallClient.ts'
import { createProviders, type Providers } from './chain/providers/providers.ts'
import type { RpcClient } from './chain/rpcClient.ts'
import { accountRefreshMs, type ServedChain } from './chain/servedChain.ts'
import { refuseOtherChain } from './chain/providers/chainIdentity.ts'
import { settleExits } from './facade/relayer/exitGas.ts'
import { withLeader } from './follower/leaderState.ts'
import { followCommits } from './followCommits.ts'
import type { Follower } from './follower/startFollower.ts'
import { every } from './ground/every.ts'
import { notReady } from './ground/unavailable.ts'
import { type AccountLog, createAccountLog } from './journal/accountLog.ts'
import type { ChainCommits } from './journal/commits.ts'
import { createChainHead, type ChainHead, startClockRounds } from './journal/clock.ts'
import { openChainMarkets, type ChainMarketData } from './market/openMarkets.ts'
import { readTold } from './store/leaseStore.ts'
import { listLiveOrders } from './store/orderStore.ts'
import { findRelayer } from './store/relayNodeStore.ts'
import { writeNotices } from './notices/writeNotices.ts'
import type { Base } from './openBase.ts'
import { followerState, openFollower, type ChainFollower } from './openFollower.ts'
import { openFacade, type ChainFacade, type FacadeBase } from './openFacade.ts'
import { type ChainOrders, createTradingContext } from './orders/chainOrders.ts'
import type { ChainPreviews } from './orders/previews.ts'
import { createTradeTape, type TradeTape } from './stream/topics/publicSources.ts'
import type { AttemptId } from './trading/orders/orderModel.ts'

/** The open parts of one chain. Created once by `openChain`, in the order of their dependence. */
export interface OpenChain extends FacadeBase {
  readonly slug: ChainSlug
  readonly client: Providers
  readonly agents: ChainAgents
  readonly tape: TradeTape
  readonly diamondWatch: DiamondWatch
  /** Commits the changes of this chain: every change of an order or a position is a transaction of this log. */
  readonly accountLog: AccountLog
  readonly commits: ChainCommits
  readonly positionReads: PositionReads
  readonly facade: ChainFacade
  readonly previews: ChainPreviews
}

/** Timeout of one batch of calls to a node. */
const NODE_TIMEOUT_MS = 5_000

/** Time behind the newest block of all providers from which on a provider is the last to be asked. */
const MAX_BEHIND_MS = 5_000

/**
 * Opens a chain; `open` closes it in the reverse order. Returns before the chain is caught up; until then reads answer
 * `NOT_READY`.
 */
export async function openChain(chain: ServedChain, base: Base, open: AsyncDisposableStack): Promise<OpenChain> {
  const { config, store, markets: sources, now, log } = base
  const { slug } = chain
  const client = open.adopt(openProviders(chain, log), (opened) => opened.close())
  await refuseOtherChain(store, chain, client)
  const diamondWatch = await openDiamondWatch({ chain, client, unansweredMs: config.unansweredMs, log })
  open.defer(() => diamondWatch.close())
  const finality = createFinality({ chain, now, log, confirm: client.confirm })
  const following: { follower?: ChainFollower } = {}
  const market = openChainMarkets(chain, {
    client,
    store,
    sources,
    refreshMs: config.marketsRefreshMs,
    lastFinal: finality.lastFinal,
    followerState: () => followerState(following.follower),
    statusMs: config.marketStatusMs,
    quietMs: config.quietPriceMs,
    now,
    log,
  })
  open.defer(() => market.close())
  const relayer = await relayerOf(slug, base, open)
  const agents = openAgents({ chain, client, market, relayer }, base)
  const terms = createKnownTerms(now)
  const commits = base.commits.of(slug)
  const lastCommit = await commits.readNumber()
  const positions = await openLivePositions(store, slug, terms)
  const head = createChainHead()
  const tape = createTradeTape({ chain: slug, store })
  const accountLog = openLog({ chain, base, market, positions, terms, head, commits })
  const accounts = openAccounts({ agents, positions, terms, accountLog, market }, base)
  open.defer(() => accounts.close())
  followCommits(commits, { base, positions, tape, accounts })
  commits.begin(lastCommit)
  const followed = { chain, client, base, market, head, finality, accountLog, commits, accounts, diamondWatch }
  const follower = await openFollower(followed, open)
  following.follower = follower
  await openClockRounds({ slug, accountLog, follower }, base, open)
  const positionReads = openPositionReads({ positions, market, head, follower }, base)
  const parts = {
    slug,
    chain,
    client,
    market,
    agents,
    positions,
    head,
    finality,
    tape,
    diamondWatch: withLeader(diamondWatch, follower),
    accountLog,
    commits,
    accounts,
    follower,
    positionReads,
  }
  const orders = createOrders({ ...parts, terms }, base)
  const facade = await openFacade({ ...parts, orders }, base, open)
  return { ...parts, orders, facade, previews: createPreviews(orders, accounts, agents) }
}

function createPreviews(orders: ChainOrders, accounts: OpenChainAccounts, agents: ChainAgents): ChainPreviews {
  return {
    orders,
    holdings: accounts.knownHoldings,
    learnTerms: accounts.learnTerms,
    delegateFor: (agent) => requiredDelegate(agents, agent),
  }
}

function openProviders({ slug, chainId, rpcUrls }: ServedChain, log: FastifyBaseLogger): Providers {
  return createProviders({
    settings: rpcUrls,
    chainId,
    timeoutMs: NODE_TIMEOUT_MS,
    maxBehind: Math.ceil(MAX_BEHIND_MS / CHAINS[slug].blockMs),
    onChange(provider, state, reason) {
      if (state === 'ok') log.info({ chain: slug, provider }, 'a provider is well again')
      else log.warn({ chain: slug, provider, state, reason }, 'a provider is not well')
    },
  })
}

function openPositionReads(
  of: {
    readonly positions: LivePositions
    readonly market: ChainMarketData
    readonly head: ChainHead
    readonly follower: Follower
  },
  { markets: sources, now }: Base,
): PositionReads {
  return createPositionReads({
    live: of.positions,
    freshness: of.market.freshness,
    head: of.head.current,
    now,
    priceVersion: () => sources.feed.book.version(),
    followerReason: of.follower.reason,
  })
}

/** Pause between two looks for the relayer's address, as long as between two times that its node tells it. */
const RELAYER_LOOK_MS = 1_000

/**
 * Returns a read of the relayer's address: of the key, or, on a node without the role, what the node that sends tells
 * with its lease; until one has told it, the sender that the store knows.
 */
async function relayerOf(
  slug: ChainSlug,
  { relayerKey, roles, store, log }: Base,
  open: AsyncDisposableStack,
): Promise<() => Address | null> {
  if (roles.has('relayer')) return () => relayerKey?.address ?? null
  let known: Address | null = null
  async function look(): Promise<void> {
    const told = await readTold(store.read, { role: 'relayer', chain: slug })
    known = (told === '' ? await findRelayer(store.read, slug) : (told as Address)) ?? known
  }
  await look()
  const onError = (error: unknown): void =>
    log.error({ chain: slug, err: error }, "the relayer's address could not be read")
  const looks = every(RELAYER_LOOK_MS, look, { onError })
  open.defer(() => looks.close())
  return () => known
}

function openAgents(
  of: {
    readonly chain: ServedChain
    readonly client: RpcClient
    readonly market: ChainMarketData
    readonly relayer: () => Address | null
  },
  { authenticate, config, now }: Base,
): ChainAgents {
  const { chain, client, market, relayer } = of
  return createChainAgents(chain, {
    client: createMulticallClient(client),
    registry: authenticate.registry,
    domain: authenticate.domainOf(chain.slug),
    relayer,
    markets: () => market.watch.current()?.markets,
    delegateMaxAgeMs: accountRefreshMs(chain, config.accountRefreshMs),
    now,
  })
}

function openAccounts(
  of: Pick<OpenChain, 'agents' | 'positions' | 'accountLog' | 'market'> & { readonly terms: KnownTerms },
  { config, store, roles, now, log }: Base,
): OpenChainAccounts {
  const { slug } = of.agents.chain
  return openChainAccounts(slug, {
    ...of,
    hasOrders: async (trader) => (await listLiveOrders(store.read, slug, trader, 1)).length > 0,
    collaterals: () => of.market.watch.current()?.collaterals,
    isShared: !roles.isAlone,
    refreshMs: accountRefreshMs(of.agents.chain, config.accountRefreshMs),
    now,
    log,
  })
}

function openLog(of: {
  readonly chain: ServedChain
  readonly base: Base
  readonly market: ChainMarketData
  readonly positions: LivePositions
  readonly terms: KnownTerms
  readonly head: ChainHead
  readonly commits: ChainCommits
}): AccountLog {
  const { store, markets, now, log } = of.base
  const { slug } = of.chain
  return createAccountLog({
    chain: slug,
    store,
    positionsText: createLoggedPositions({
      live: of.positions,
      terms: of.terms,
      markets: () => of.market.watch.current(),
      book: markets.feed.book,
      head: of.head.current,
      onError: (error) => log.error({ chain: slug, err: error }, 'a position could not be valued for the log'),
    }),
    now,
    async alsoKeep(sql, changes) {
      await writeNotices(sql, changes)
      await settleExits(sql, changes)
    },
    onError: (error) => log.error({ chain: slug, err: error }, 'what was committed could not be passed on'),
    commits: of.commits,
  })
}

/** Opens the rounds that move orders on by the clock, on the node that leads as keeper of the chain. */
function openClockRounds(
  of: Pick<OpenChain, 'slug' | 'accountLog' | 'follower'>,
  { roles, store, log }: Base,
  open: AsyncDisposableStack,
): Promise<void> {
  const { slug, accountLog, follower } = of
  return roles.lead({ role: 'keeper', chain: slug }, open, (leader) => {
    const rounds = startClockRounds({
      chain: slug,
      store,
      accountLog: leader.fencedLog(accountLog),
      clock: () => ({ ...follower.clock(), nowMs: accountLog.now() }),
      onError: (error) => log.error({ chain: slug, err: error }, 'orders could not be moved on by the clock'),
    })
    leader.open.defer(() => rounds.close())
  })
}

function createOrders(
  of: Omit<OpenChain, 'orders' | 'facade' | 'previews'> & { readonly terms: KnownTerms },
  { config, store, markets, now }: Base,
): ChainOrders {
  const { chain, client, market, agents, positions, terms, accountLog, follower, positionReads } = of
  const context = createTradingContext({
    freshness: market.freshness,
    hours: market.hours,
    now,
    head: of.head.current,
    terms,
  })
  return {
    chain,
    client,
    store,
    accountLog,
    delegates: agents.delegates,
    terms,
    positions,
    isKnown: follower.isKnown,
    clock: () => ({ ...follower.clock(), nowMs: accountLog.now() }),
    lastFinal: () => of.finality.lastFinal(follower.clock().headBlock),
    now: accountLog.now,
    trading: (witness) => {
      // Outdated positions and orders, or other contracts, would make wrong transactions.
      const reason = follower.reason() ?? of.diamondWatch.reason()
      if (reason !== undefined) throw notReady(reason)
      return context(witness)
    },
    witness: markets.witness.priceOf,
    positionAnswer: positionReads.answer,
    newAttemptId: () => `0x${randomBytes(8).toString('hex')}` as AttemptId,
    settings: config,
  }
}
