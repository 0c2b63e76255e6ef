import { randomBytes } from 'node:crypto'
import type { ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { AccountLog, Changes } from './journal/accountLog.ts'
import { createAccountLog, type AccountLogOptions } from './journal/createAccountLog.ts'
import type { ChainAgents } from './agents/chainAgents.ts'
import { startFollower, type Follower } from './follower/startFollower.ts'
import type { ServedChain } from './chain/servedChain.ts'
import { notReady } from './ground/notReady.ts'
import type { Markets } from './market/startMarkets.ts'
import type { ChainOrders, PrepareSettings } from './orders/chainOrders.ts'
import { startClockRounds } from './journal/clockRound.ts'
import { createTradingContext } from './orders/tradingContext.ts'
import { openLivePositions, type LivePositions } from './accounts/positions/livePositions.ts'
import { createLoggedPositions } from './accounts/positions/loggedPositions.ts'
import { createPositionReads, type PositionReads } from './accounts/positions/positionReads.ts'
import type { Store } from './store/sql.ts'
import type { AttemptId } from './trading/orders/orderModel.ts'

/** What is known of a chain's orders and positions, kept up with its blocks, and what makes new ones. */
export interface ChainTrading {
  readonly follower: Follower
  readonly positions: LivePositions
  readonly reads: PositionReads
  readonly orders: ChainOrders
  readonly accountLog: AccountLog
}

export interface Trading {
  readonly byChain: ReadonlyMap<ChainSlug, ChainTrading>
  close(): Promise<void>
}

export interface TradingOptions {
  readonly chains: readonly ServedChain[]
  readonly agentsOf: (slug: ChainSlug) => ChainAgents
  readonly store: Store
  readonly markets: Markets
  readonly settings: PrepareSettings
  readonly headPollMs: number
  readonly now: () => number
  readonly log: FastifyBaseLogger
  /** What else is kept of each change, in its transaction. */
  readonly alsoKeep: AccountLogOptions['alsoKeep']
  /** After each commit that changed orders or positions, whoever made it. */
  readonly onChanges: (changes: Changes) => void
}

/** Starts following every chain and returns at once: what is not caught up yet answers `NOT_READY`. */
export async function startTrading(options: TradingOptions): Promise<Trading> {
  const open = new AsyncDisposableStack()
  const byChain = new Map<ChainSlug, ChainTrading>()
  for (const chain of options.chains) byChain.set(chain.slug, await startChain(chain, options, open))
  return { byChain, close: () => open.disposeAsync() }
}

async function startChain(
  chain: ServedChain,
  options: TradingOptions,
  open: AsyncDisposableStack,
): Promise<ChainTrading> {
  const { slug } = chain
  const { store, markets, now, log } = options
  const { client, delegates } = options.agentsOf(slug)
  const market = markets.byChain.get(slug)!
  const positions = await openLivePositions(store, slug)
  const head = () => follower.head()
  const accountLog = openLog(slug, options, { positions, head })
  const follower: Follower = startFollower({
    chain,
    client,
    store,
    accountLog,
    now,
    log,
    markets: () => market.watch.current(),
    finalityDepth: chain.finalityDepth,
    startBlock: chain.startBlock,
    pollMs: options.headPollMs,
  })
  open.defer(() => follower.close())
  const clock = () => follower.clock()
  const onError = (error: unknown): void =>
    log.error({ chain: slug, err: error }, 'orders could not be moved on by the clock')
  const rounds = startClockRounds({ chain: slug, store, accountLog, clock, onError })
  open.defer(() => rounds.close())

  const { freshness } = market
  const reads = createPositionReads({
    live: positions,
    freshness,
    head,
    now,
    priceVersion: () => markets.feed.book.version(),
    followerReason: () => follower.reason(),
  })
  const context = createTradingContext({ freshness, hours: markets.hours })
  const orders: ChainOrders = {
    chain,
    client,
    store,
    accountLog,
    delegates,
    positions,
    clock,
    now,
    trading: () => {
      // Positions and orders that are out of date would make wrong transactions.
      const reason = follower.reason()
      if (reason !== undefined) throw notReady(reason)
      return context()
    },
    positionAnswer: (position) => reads.answer(position),
    newAttemptId: () => `0x${randomBytes(8).toString('hex')}` as AttemptId,
    settings: options.settings,
  }
  return { follower, positions, reads, orders, accountLog }
}

function openLog(
  slug: ChainSlug,
  { store, markets, now, log, alsoKeep, onChanges }: TradingOptions,
  { positions, head }: { readonly positions: LivePositions; readonly head: Follower['head'] },
): AccountLog {
  const { watch } = markets.byChain.get(slug)!
  return createAccountLog({
    chain: slug,
    store,
    positionsText: createLoggedPositions({
      live: positions,
      markets: () => watch.current(),
      book: markets.feed.book,
      head,
      onError: (error) => log.error({ chain: slug, err: error }, 'a position could not be valued for the log'),
    }),
    now,
    alsoKeep,
    onError: (error) => log.error({ chain: slug, err: error }, 'what was committed could not be passed on'),
    onCommit(changes) {
      positions.apply(changes.positions)
      onChanges(changes)
    },
  })
}
