import type { LoggedEvent } from '../store/loggedEvent.ts'
import type { PositionChange } from '../trading/positions/positionChange.ts'
import type { OrderChange } from '../trading/orders/orderChange.ts'
import type { Address, ChainSlug, FillHistoryEntry } from '@bezel/protocol'
import type { Sql } from '../store/sql.ts'

/** Where a change comes from. */
export interface Origin {
  /** The block that told it; `null` when a request or the clock did. */
  readonly block: number | null
  /** A block was taken back: what follows from it corrects the past. */
  readonly isReorg: boolean
}

/** A request or the clock: no block told it. */
export const OFF_CHAIN: Origin = { block: null, isReorg: false }

/** What made a change, and when. */
export interface Cause extends Origin {
  readonly nowMs: number
}

/** An execution as the histories keep it. */
export interface LoggedFill {
  readonly trader: Address
  readonly pairIndex: number
  readonly fill: FillHistoryEntry
}

/** Everything one transaction changed. */
export interface Changes {
  readonly chain: ChainSlug
  readonly cause: Cause
  readonly orders: readonly OrderChange[]
  readonly positions: readonly PositionChange[]
  readonly fills: readonly LoggedFill[]
}

/** Where a transaction notes what it changes. Whoever changes an order or a position needs one, and only the log gives it. */
export interface Journal {
  order(change: OrderChange): void
  position(change: PositionChange): void
  execution(fill: LoggedFill): void
}

/** An account as it is now. */
export interface AccountNow {
  /** What makes it another one, as text: what it holds and whom it lets trade. Its list of agents alone is no news of the chain. */
  readonly holdings: string
  /** All of it, as JSON. */
  readonly text: string
}

/** The numbered events of every account of one chain: 1, 2, 3, ... per trader, without a hole, in the order of the commits. */
export interface AccountLog {
  /**
   * A transaction of the store whose changes are told, in the same transaction, by events. Nobody hears of them before they are durable. Their
   * time is that of the transaction's turn, so the times of a log do not run backwards.
   */
  transaction<Result>(origin: Origin, work: (sql: Sql, journal: Journal) => Promise<Result>): Promise<Result>
  /** Tells what the account is now, unless its holdings were told so before. Whether they were new. */
  account(trader: Address, account: AccountNow): Promise<boolean>
  /** Of the last event; 0 when there is none. */
  lastSeq(trader: Address): Promise<number>
  /** Of the oldest event that is kept; one after the last when there is none. */
  firstSeq(trader: Address): Promise<number>
  /** Oldest first, those after `after`. */
  read(trader: Address, of: { readonly after: number; readonly limit: number }): Promise<LoggedEvent[]>
  /** Called after each commit that appended to a trader's log: a reason to read on, and nothing more. Returns what ends it. */
  onAppend(listener: (trader: Address) => void): () => void
}
