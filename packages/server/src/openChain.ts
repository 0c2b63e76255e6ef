import { randomBytes } from 'node:crypto'
import { CHAINS, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { openChainAccounts, type OpenChainAccounts } from './accounts/openChainAccounts.ts'
import { openLivePositions, type LivePositions } from './accounts/positions/livePositions.ts'
import { createLoggedPositions } from './accounts/positions/loggedPositions.ts'
import { createPositionReads, type PositionReads } from './accounts/positions/positionReads.ts'
import { createKnownTerms, type KnownTerms } from './accounts/positions/traderTerms.ts'
import { createChainAgents, requiredDelegate, type ChainAgents } from './agents/chainAgents.ts'
import type { ChainBlock } from './chain/blocks.ts'
import { openDiamondWatch, type DiamondWatch } from './chain/diamondWatch.ts'
import { createFinality, type Finality } from './chain/finality.ts'
import { createMulticallClient } from './chain/multicallClient.ts'
import { createProviders, type Providers } from './chain/providers/providers.ts'
import type { RpcClient } from './chain/rpcClient.ts'
import { accountRefreshMs, type ServedChain } from './chain/servedChain.ts'
import { refuseOtherChain } from './chain/providers/chainIdentity.ts'
import { settleExits } from './facade/relayer/exitGas.ts'
import { tellState, withLeader } from './follower/leaderState.ts'
import { openSharedFollower, type SharedFollower } from './follower/sharedFollower.ts'
import { startFollower, type Follower } from './follower/startFollower.ts'
import { notReady } from './ground/unavailable.ts'
import { type AccountLog, createAccountLog } from './journal/accountLog.ts'
import type { CommitChanges } from './journal/commitBody.ts'
import type { ChainCommits } from './journal/commits.ts'
import { createChainHead, type ChainHead, startClockRounds } from './journal/clock.ts'
import type { Leader } from './journal/roles.ts'
import { openChainMarkets, type ChainMarketData } from './market/openMarkets.ts'
import type { FollowerState } from './market/watchChainMarkets.ts'
import { countOrdersByStatus, listLiveOrders } from './store/orderStore.ts'
import { findRelayer } from './store/relayNodeStore.ts'
import type { Store } from './store/sql.ts'
import { writeNotices } from './notices/writeNotices.ts'
import type { Base } from './openBase.ts'
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
  const relayer = await relayerOf(slug, base)
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
  const followed = { chain, client, base, market, head, finality, accountLog, accounts, diamondWatch }
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

/** A follower, which on one of several nodes may be that of another one. */
type ChainFollower = Follower & Partial<Pick<SharedFollower, 'isOwn' | 'leaderState'>>

function followerState(follower: ChainFollower | undefined): FollowerState {
  // Until this node hears of other nodes' blocks, it reads the markets in rounds.
  if (follower?.isOwn?.() === false) return 'lost'
  const reason = follower?.reason()
  if (reason === 'reorg_too_deep') return 'lost'
  return reason === 'chain_lagging' ? 'lagging' : 'following'
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

/** Returns the relayer's address: of the key, or, on a node without the role, of what the store knows. */
async function relayerOf(slug: ChainSlug, { relayerKey, roles, store }: Base): Promise<Address | null> {
  if (roles.has('relayer')) return relayerKey?.address ?? null
  return (await findRelayer(store.read, slug)) ?? null
}

function openAgents(
  of: {
    readonly chain: ServedChain
    readonly client: RpcClient
    readonly market: ChainMarketData
    readonly relayer: Address | null
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
  { config, store, now, log }: Base,
): OpenChainAccounts {
  const { slug } = of.agents.chain
  return openChainAccounts(slug, {
    ...of,
    hasOrders: async (trader) => (await listLiveOrders(store.read, slug, trader, 1)).length > 0,
    collaterals: () => of.market.watch.current()?.collaterals,
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

/** Updates the in-memory state after every commit of any node, in this order. */
function followCommits(
  commits: ChainCommits,
  of: Pick<OpenChain, 'positions' | 'tape' | 'accounts'> & { readonly base: Base },
): void {
  const { orderCounts, waits } = of.base
  const follow = (
    apply: (changes: CommitChanges, number: number | undefined) => void,
    reload: () => Promise<void> = async () => {},
  ): void => commits.follow({ apply: ({ changes }, number) => (changes ? apply(changes, number) : undefined), reload })
  follow(({ positions }) => of.positions.apply(positions), of.positions.reload)
  follow(
    ({ chain, orders }, number) => orderCounts.apply(orders, { chain, number }),
    () => orderCounts.restart(() => countOrdersByStatus(of.base.store.read)),
  )
  follow(waits.apply)
  follow(of.tape.apply)
  follow(({ cause, orders, positions }) => {
    // A commit caused by a request changes nothing on the chain.
    if (cause.block === null) return
    for (const { record } of [...orders, ...positions]) of.accounts.forget(record.trader)
  })
}

/** The parts of a chain that following it needs. */
interface FollowedParts {
  readonly chain: ServedChain
  readonly client: Providers
  readonly base: Base
  readonly market: ChainMarketData
  readonly head: ChainHead
  readonly finality: Finality
  readonly accountLog: AccountLog
  readonly accounts: OpenChainAccounts
  readonly diamondWatch: DiamondWatch
}

/** Opens the follower of a chain: of this node while it leads, otherwise what the store tells of another node's. */
async function openFollower(of: FollowedParts, open: AsyncDisposableStack): Promise<ChainFollower> {
  const { chain, client, head, market } = of
  const { roles, store, now, log } = of.base
  if (roles.isAlone) {
    const follower = followBlocks(of, { store, accountLog: of.accountLog })
    open.defer(() => follower.close())
    return follower
  }
  const shared = openSharedFollower({ chain, client, store, head, markets: () => market.watch.current(), now, log })
  open.defer(() => shared.close())
  const lead = (leader: Leader): void => {
    const fenced = { store: leader.store, accountLog: leader.fencedLog(of.accountLog) }
    leader.open.defer(shared.lead(() => followBlocks(of, fenced)))
  }
  const name = { role: 'follower', chain: chain.slug } as const
  await roles.lead(name, open, lead, () => tellState(shared, of.diamondWatch))
  return shared
}

function followBlocks(of: FollowedParts, by: { readonly store: Store; readonly accountLog: AccountLog }): Follower {
  const { chain, client, head, finality } = of
  const { config, now, log } = of.base
  return startFollower({
    chain,
    client: client.followerClient(head.current),
    head,
    finality,
    ...by,
    now,
    log,
    markets: () => of.market.watch.current(),
    startBlock: chain.startBlock,
    pollMs: config.headPollMs,
    onUndone: of.market.watch.noteUndone,
    onApplied: (blocks) => noteBlocks(of, blocks),
  })
}

/**
 * Takes applied blocks into account where they matter beside orders and positions. A node that does not follow would
 * be told here of the blocks that another one applied.
 */
async function noteBlocks(of: FollowedParts, blocks: readonly ChainBlock[]): Promise<void> {
  const noted = of.market.watch.note(blocks)
  for (const { senders, logsBloom } of blocks) {
    of.accounts.noteSenders(senders)
    if (logsBloom !== undefined) of.accounts.noteLogs(logsBloom)
  }
  await of.diamondWatch.note(blocks)
  await noted
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
