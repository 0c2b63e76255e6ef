import type { LivePosition } from '../trading/positions/livePosition.ts'
import type { Position } from '@bezel/protocol'
import type { AccountLog } from '../journal/accountLog.ts'
import type { Delegates } from '../agents/delegates.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { LivePositions } from '../accounts/positions/livePositions.ts'
import type { Store } from '../store/sql.ts'
import type { AttemptId, FoldClock } from '../trading/orders/orderModel.ts'
import type { TradingContext } from '../trading/plan/plan.ts'

/** How long prepared transactions are good, and how many may be. */
export interface PrepareSettings {
  /** Of a transaction with a price of now in it. */
  readonly preparedMarketMs: number
  /** Of all others. */
  readonly preparedRestingMs: number
  /** Unexpired prepared orders per agent. */
  readonly maxPreparedOrders: number
}

/** What the writes to orders and positions of one chain work with. */
export interface ChainOrders {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly delegates: Delegates
  /** Throws `NOT_READY` while the chain's markets are not known. */
  readonly trading: () => TradingContext
  readonly positions: Pick<LivePositions, 'ofTrader' | 'find'>
  /** Throws `NOT_READY` when the price of its market is stale. */
  readonly positionAnswer: (position: LivePosition) => Position
  /** The time, and how far the chain was followed. */
  readonly clock: () => FoldClock
  readonly now: () => number
  /** 8 random bytes. */
  readonly newAttemptId: () => AttemptId
  readonly settings: PrepareSettings
}
