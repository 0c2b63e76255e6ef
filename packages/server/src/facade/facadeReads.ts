import type { PairQuote, ChainMarkets, ListedPair } from '../trading/market/chainMarkets.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { CollateralAmount, MicroUsd, type Address, type ChainSlug, type Decimal, type OrderId } from '@bezel/protocol'
import type { ChainAccounts } from '../accounts/chainAccounts.ts'
import type { Registry } from '../agents/registry.ts'
import type { Follower } from '../follower/startFollower.ts'
import type { CandleReads } from '../market/candles/candleReads.ts'
import type { PriceBook } from '../market/feed/priceBook.ts'
import type { Freshness } from '../market/freshness.ts'
import type { MarketHours } from '../market/hours.ts'
import { notReady, NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainMarketsWatch } from '../market/watchChainMarkets.ts'
import type { LivePositions } from '../accounts/positions/livePositions.ts'
import { readLeverage } from '../store/facadeLeverageStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import type { FollowedHead } from '../trading/positions/positionAnswer.ts'
import { createFillTapes, type FillTapes } from './fillTape.ts'
import { createTriggers, type Triggers } from './triggers.ts'
import type { Holdings } from '../accounts/readHoldings.ts'
import { createLru } from '../ground/lru.ts'
import { usdOf } from './priceText.ts'

/** Everything that the facade of one chain answers from. Old prices are not refused: the last one is shown. */
export interface FacadeReads {
  readonly chain: ChainSlug
  readonly now: () => number
  /** Returns the markets as last read. Throws `NOT_READY` until they have been read once. */
  readonly markets: () => ChainMarkets
  /** Increases with every reading of the markets. */
  readonly marketsVersion: () => number
  /**
   * Returns the last price since the start, however old it is; a coin without one is in no list of prices. Throws
   * `NOT_READY` until the feed has given its prices once, because an empty list would be believed.
   */
  readonly quote: (pairIndex: number) => PairQuote | undefined
  /** Returns the last price, also one from before the start: positions are valued at it. */
  readonly lastQuote: (pairIndex: number) => PairQuote | undefined
  /** Increases with every change of a price. */
  readonly priceVersion: () => number
  readonly isOpen: (pair: ListedPair) => boolean
  readonly candles: Pick<CandleReads, 'list' | 'current'>
  readonly sql: Sql
  /** Returns open positions, oldest first. Throws `NOT_READY` until the follower has caught up with the chain. */
  readonly positionsOf: (trader: Address) => readonly LivePosition[]
  readonly position: (id: OrderId) => LivePosition | undefined
  /** Returns the last followed block. */
  readonly head: () => FollowedHead
  /** Returns the wallet's balance in USD (1e6), synchronously when it is cached. Throws `NodeUnavailableError`. */
  readonly wallet: (trader: Address) => MicroUsd | Promise<MicroUsd>
  readonly registry: Pick<Registry, 'findAgent' | 'agentsOf'>
  /** Reads the leverage that the trader chose for new orders in a pair; `undefined` when it never did. */
  readonly leverageOf: (trader: Address, pairIndex: number) => Promise<number | undefined>
  readonly triggers: Triggers
  /** Histories of traders, to choose from before rows are read. */
  readonly tapes: FillTapes
  /** Requests that a client may send per minute. */
  readonly requestsPerMinute: number
  /** Counterparty of everything that is charged or forfeited. */
  readonly diamond: Address
}

interface FacadeReadsOptions {
  readonly chain: ChainSlug
  readonly now: () => number
  readonly market: {
    readonly watch: Pick<ChainMarketsWatch, 'version'>
    readonly freshness: Pick<Freshness, 'loaded' | 'pricesReason'>
  }
  readonly book: Pick<PriceBook, 'get' | 'last' | 'version'>
  readonly hours: Pick<MarketHours, 'isOpen'>
  readonly candles: Pick<CandleReads, 'list' | 'current'>
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly positions: Pick<LivePositions, 'ofTrader' | 'find'>
  readonly follower: Pick<Follower, 'head' | 'reason' | 'isKnown'>
  readonly accounts: Pick<ChainAccounts, 'holdings'>
  readonly registry: Pick<Registry, 'findAgent' | 'agentsOf'>
  readonly requestsPerMinute: number
  readonly diamond: Address
}

export function createFacadeReads(options: FacadeReadsOptions): FacadeReads {
  const { chain, now, market, book, hours, candles, store, positions, follower, registry } = options
  const wallets = createWallets((trader) => options.accounts.holdings(trader))
  const markets = (): ChainMarkets => market.freshness.loaded()

  /**
   * Throws `NOT_READY` while the chain was never caught up with, or not everything of the trader is known, since an
   * empty account would be believed. A chain that lags is shown as it was.
   */
  function requireFollowed(trader: Address): void {
    const reason = follower.reason()
    if (reason === 'starting' || reason === 'reorg_too_deep') throw notReady(reason)
    if (!follower.isKnown(trader)) throw notReady('snapshot')
  }

  return {
    chain,
    now,
    markets,
    candles,
    registry,
    marketsVersion: () => market.watch.version(),
    quote(pairIndex) {
      if (market.freshness.pricesReason() === 'starting') throw notReady('starting')
      return book.get(pairIndex)
    },
    lastQuote: (pairIndex) => book.last(pairIndex),
    priceVersion: () => book.version(),
    isOpen: (pair) => hours.isOpen(pair),
    get sql() {
      return store.read
    },
    positionsOf(trader) {
      requireFollowed(trader)
      return positions.ofTrader(trader)
    },
    position: (id) => positions.find(id),
    head: () => follower.head(),
    wallet: (trader) => wallets.balance(trader, markets()),
    leverageOf: (trader, pairIndex) => readLeverage(store.read, { chain, trader, pairIndex }),
    triggers: createTriggers(store),
    tapes: createFillTapes(store, chain),
    requestsPerMinute: options.requestsPerMinute,
    diamond: options.diamond,
  }
}

type Balances = Pick<Holdings, 'balances'>

/** The balances of traders. */
interface Wallets {
  /**
   * Returns the balance of the chain's default collateral in USD (1e6), synchronously when it is cached. While the node
   * is unavailable it is the last known one. Throws `NodeUnavailableError` when there is none.
   */
  balance(trader: Address, chain: ChainMarkets): MicroUsd | Promise<MicroUsd>
}

/** Number of remembered balances. Bounds memory; the oldest are dropped first. */
const MAX_KNOWN = 10_000

function createWallets(holdings: (trader: Address) => Balances | Promise<Balances>): Wallets {
  const lastSeen = createLru<Address, Balances>(MAX_KNOWN)

  function see(trader: Address, found: Balances): Balances {
    if (lastSeen.get(trader) !== found) lastSeen.set(trader, found)
    return found
  }

  async function waitFor(trader: Address, reading: Promise<Balances>): Promise<Balances> {
    try {
      return see(trader, await reading)
    } catch (error) {
      const last = error instanceof NodeUnavailableError ? lastSeen.get(trader) : undefined
      if (last === undefined) throw error
      return last
    }
  }

  return {
    balance(trader, chain) {
      const found = holdings(trader)
      if (!(found instanceof Promise)) return usdIn(see(trader, found), chain)
      return waitFor(trader, found).then((seen) => usdIn(seen, chain))
    },
  }
}

function usdIn({ balances }: Balances, chain: ChainMarkets): MicroUsd {
  const token = chain.collaterals.find(({ index }) => index === chain.defaultCollateralIndex)
  const text = balances.find(({ collateral }) => collateral === token?.symbol)?.balance
  if (token === undefined || text === undefined) return MicroUsd.zero
  return usdOf(token, CollateralAmount.parseTruncated(text as Decimal, token.decimals))
}
