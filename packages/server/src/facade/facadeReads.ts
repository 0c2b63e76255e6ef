import type { PairQuote } from '../trading/market/pairQuote.ts'
import type { LivePosition } from '../trading/positions/livePosition.ts'
import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { ChainAccounts } from '../accounts/chainAccounts.ts'
import type { Registry } from '../agents/registry.ts'
import type { Follower } from '../follower/startFollower.ts'
import type { CandleReads } from '../market/candles/candleReads.ts'
import type { ChainMarkets, ListedPair } from '../trading/market/chainMarkets.ts'
import type { PriceBook } from '../market/feed/priceBook.ts'
import type { Freshness } from '../market/freshness.ts'
import type { MarketHours } from '../market/hours.ts'
import { notReady } from '../ground/notReady.ts'
import type { ChainMarketsWatch } from '../market/watchChainMarkets.ts'
import type { LivePositions } from '../accounts/positions/livePositions.ts'
import { readLeverage } from '../store/facadeLeverageStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import { createTriggers, type Triggers } from './triggers.ts'
import { createWallets } from './wallets.ts'

/** What the facade of one chain answers from. Nothing here refuses because a price is old: the last one is shown. */
export interface FacadeReads {
  readonly chain: ChainSlug
  readonly now: () => number
  /** As last read. Throws `NOT_READY` until markets and prices are there for the first time. */
  readonly markets: () => ChainMarkets
  /** Grows with every reading of the markets. */
  readonly marketsVersion: () => number
  /** The last price, however old. */
  readonly quote: (pairIndex: number) => PairQuote | undefined
  /** Grows with every change of a price. */
  readonly priceVersion: () => number
  readonly isOpen: (pair: ListedPair) => boolean
  readonly candles: Pick<CandleReads, 'list' | 'current'>
  readonly sql: Sql
  /** Open positions, oldest first. Throws `NOT_READY` until the chain was caught up with. */
  readonly positionsOf: (trader: Address) => readonly LivePosition[]
  readonly position: (id: OrderId) => LivePosition | undefined
  /** The last followed block. */
  readonly head: () => { readonly timestampMs: number } | undefined
  /** USD (1e6) in the wallet; at once when it is known. Throws `NodeUnavailableError`. */
  readonly wallet: (trader: Address) => bigint | Promise<bigint>
  readonly registry: Pick<Registry, 'agent' | 'agentsOf'>
  /** What the trader chose for its next orders in a pair; `undefined` when it never did. */
  readonly leverageOf: (trader: Address, pairIndex: number) => Promise<number | undefined>
  readonly triggers: Triggers
  /** What a client may send. */
  readonly requestsPerMinute: number
}

export interface FacadeReadsOptions {
  readonly chain: ChainSlug
  readonly now: () => number
  readonly market: { readonly watch: Pick<ChainMarketsWatch, 'version'>; readonly freshness: Pick<Freshness, 'loaded'> }
  readonly book: Pick<PriceBook, 'get' | 'version'>
  readonly hours: Pick<MarketHours, 'isOpen'>
  readonly candles: Pick<CandleReads, 'list' | 'current'>
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly positions: Pick<LivePositions, 'ofTrader' | 'find'>
  readonly follower: Pick<Follower, 'head' | 'reason'>
  readonly accounts: Pick<ChainAccounts, 'holdings'>
  readonly registry: Pick<Registry, 'agent' | 'agentsOf'>
  readonly requestsPerMinute: number
}

export function createFacadeReads(options: FacadeReadsOptions): FacadeReads {
  const { chain, now, market, book, hours, candles, store, positions, follower, registry } = options
  const wallets = createWallets((trader) => options.accounts.holdings(trader))
  const markets = (): ChainMarkets => market.freshness.loaded()

  /** A chain that lags is shown as it was; one that was never caught up with would show nothing, which a client would believe. */
  function requireFollowed(): void {
    const reason = follower.reason()
    if (reason === 'starting' || reason === 'reorg_too_deep') throw notReady(reason)
  }

  return {
    chain,
    now,
    markets,
    candles,
    registry,
    marketsVersion: () => market.watch.version(),
    quote: (pairIndex) => book.get(pairIndex),
    priceVersion: () => book.version(),
    isOpen: (pair) => hours.isOpen(pair),
    get sql() {
      return store.read
    },
    positionsOf(trader) {
      requireFollowed()
      return positions.ofTrader(trader)
    },
    position: (id) => positions.find(id),
    head: () => follower.head(),
    wallet: (trader) => wallets.balance(trader, markets()),
    leverageOf: (trader, pairIndex) => readLeverage(store.read, { chain, trader, pairIndex }),
    triggers: createTriggers(store),
    requestsPerMinute: options.requestsPerMinute,
  }
}
