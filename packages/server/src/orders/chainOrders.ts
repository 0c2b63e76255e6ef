import type { LivePosition } from '../trading/positions/positionModel.ts'
import type { Position } from '@bezel/protocol'
import type { AccountLog } from '../journal/accountLog.ts'
import type { Delegates } from '../agents/delegates.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { LivePositions } from '../accounts/positions/livePositions.ts'
import type { Store } from '../store/sql.ts'
import type { AttemptId, FoldClock } from '../trading/orders/orderModel.ts'
import type { TradingContext } from '../trading/plan/plan.ts'
import type { Freshness } from '../market/freshness.ts'
import type { MarketHours } from '../market/hours.ts'

/** Validity of prepared transactions, and the limit on prepared orders. */
interface PrepareSettings {
  /** Validity of a transaction that contains the current price, in ms. */
  readonly preparedMarketMs: number
  /** Validity of all other transactions, in ms. */
  readonly preparedRestingMs: number
  /** Maximum number of unexpired prepared orders per agent. */
  readonly maxPreparedOrders: number
}

/** Dependencies of the writes to orders and positions of one chain. */
export interface ChainOrders {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly delegates: Delegates
  /** Returns the inputs of the trading rules. Throws `NOT_READY` while the chain's markets are not known. */
  readonly trading: () => TradingContext
  readonly positions: Pick<LivePositions, 'ofTrader' | 'find'>
  /** Returns a position as the API shows it. Throws `NOT_READY` when the price of its market is stale. */
  readonly positionAnswer: (position: LivePosition) => Position
  /** Returns the time and the number of the last followed block. */
  readonly clock: () => FoldClock
  readonly now: () => number
  /** Returns a new attempt id of 8 random bytes. */
  readonly newAttemptId: () => AttemptId
  readonly settings: PrepareSettings
}

/**
 * Returns a function that gives the current inputs of the trading rules. It throws `NOT_READY` while the chain's
 * markets are not known.
 */
export function createTradingContext(of: {
  readonly freshness: Pick<Freshness, 'loaded' | 'quote'>
  readonly hours: Pick<MarketHours, 'isOpen'>
}): () => TradingContext {
  return () => ({
    chain: of.freshness.loaded(),
    markOf: (market) => of.freshness.quote(market).mark,
    isOpen: (market) => of.hours.isOpen(market),
  })
}
