import type {
  Account,
  Candle,
  CandleInterval,
  LogChannel,
  Order,
  OrderBook,
  Position,
  MarketPrice,
  RecentTrade,
  StreamChannel,
} from '@bezel/protocol/wire'

// The events of each channel. Their data has the shapes of the REST operations.

/** An event of the prices channel: all markets first (`snapshot`), then those that changed. */
export interface PricesEvent {
  /** Channel of the event. */
  readonly channel: 'prices'
  /** Symbol of the market when a single one was asked for; absent for all markets and for several. */
  readonly market?: string
  /** True when `data` replaces everything before it. */
  readonly snapshot: boolean
  /** Number of the message in its channel. */
  readonly seq: number
  /** Prices of all markets in a snapshot, then of those that changed. */
  readonly data: readonly MarketPrice[]
}

/** An event of the book channel: the whole book each time. */
export interface BookEvent {
  /** Channel of the event. */
  readonly channel: 'book'
  /** Symbol of the market. */
  readonly market: string
  /** True for the first one, and after messages were lost. */
  readonly snapshot: boolean
  /** Number of the message in its channel and market. */
  readonly seq: number
  /** The whole book. */
  readonly data: OrderBook
}

/**
 * An event of the trades channel, newest trade first. A snapshot replaces everything before it: trades in between can
 * be missing.
 */
export interface TradesEvent {
  /** Channel of the event. */
  readonly channel: 'trades'
  /** Symbol of the market. */
  readonly market: string
  /** True when `data` replaces everything before it. */
  readonly snapshot: boolean
  /** Executions, newest first. */
  readonly data: readonly RecentTrade[]
}

/** An event of the candles channel, oldest candle first. A candle replaces the one with the same `time`. */
export interface CandlesEvent {
  /** Channel of the event. */
  readonly channel: 'candles'
  /** Symbol of the market. */
  readonly market: string
  /** Width of the candles. */
  readonly interval: CandleInterval
  /** True when `data` replaces everything before it. */
  readonly snapshot: boolean
  /** Candles, oldest first. */
  readonly data: readonly Candle[]
}

/** The fields of every event of a private channel. */
interface LogEntry<Channel extends LogChannel> {
  /** Channel of the event. */
  readonly channel: Channel
  /** Number in the trader's log, which all four private channels share. */
  readonly seq: number
  /** Time of the event in epoch milliseconds. */
  readonly timestamp: number
  /** Number of the block that caused the event; null when a request or the clock did. */
  readonly block: number | null
  /** True when a chain reorganisation changed the past. The data is what holds now. */
  readonly reverted: boolean
}

/** The state that a private channel begins with. */
interface Snapshot<Channel extends LogChannel> extends LogEntry<Channel> {
  /** True: it is the state before the first event. */
  readonly snapshot: true
}

/** One event of a private channel. */
interface Change<Channel extends LogChannel> extends LogEntry<Channel> {
  /** False: it is one event. */
  readonly snapshot: false
}

/** The open orders, before the first event of the orders channel. */
export interface OrdersSnapshot extends Snapshot<'orders'> {
  /** Open orders as of now. */
  readonly data: readonly Order[]
}

/** An order that changed. */
export interface OrdersChange extends Change<'orders'> {
  /** The order after the change. */
  readonly data: Order
}

/** The last filled orders, before the first event of the fills channel. */
export interface FillsSnapshot extends Snapshot<'fills'> {
  /** The last filled orders. */
  readonly data: readonly Order[]
}

/** An order that was filled. */
export interface FillsChange extends Change<'fills'> {
  /** The order with its fill. */
  readonly data: Order
}

/** The open positions, before the first event of the positions channel. */
export interface PositionsSnapshot extends Snapshot<'positions'> {
  /** All open positions. */
  readonly data: readonly Position[]
}

/** The open positions, after one opened, changed or closed. */
export interface PositionsChange extends Change<'positions'> {
  /** All open positions. */
  readonly data: readonly Position[]
}

/** The account, before the first event of the account channel. */
export interface AccountSnapshot extends Snapshot<'account'> {
  /** The account as of now. */
  readonly data: Account
}

/** The account, after a balance, an allowance or an agent changed. */
export interface AccountChange extends Change<'account'> {
  /** The account as it is then. */
  readonly data: Account
}

/** An event of the orders channel: the open orders first (`snapshot`), then each order that changed. */
export type OrdersEvent = OrdersSnapshot | OrdersChange
/** An event of the fills channel: the last filled orders first (`snapshot`), then each order that was filled. */
export type FillsEvent = FillsSnapshot | FillsChange
/** An event of the positions channel: all open positions, whenever one opens, changes or closes. */
export type PositionsEvent = PositionsSnapshot | PositionsChange
/** An event of the account channel: the account, whenever balances, allowances or agents change. */
export type AccountChangeEvent = AccountSnapshot | AccountChange

/** The event type of each private channel, when a snapshot comes first. */
export interface LogEvents {
  /** Changes of the trader's orders. */
  readonly orders: OrdersEvent
  /** The trader's executions. */
  readonly fills: FillsEvent
  /** The trader's open positions. */
  readonly positions: PositionsEvent
  /** Balances, allowances and agents. */
  readonly account: AccountChangeEvent
}

/** The event type of each private channel that resumes from a number (`fromSeq`): there is no snapshot. */
export interface LogChanges {
  /** Changes of the trader's orders. */
  readonly orders: OrdersChange
  /** The trader's executions. */
  readonly fills: FillsChange
  /** The trader's open positions. */
  readonly positions: PositionsChange
  /** Balances, allowances and agents. */
  readonly account: AccountChange
}

/** The event type of each channel. */
export interface StreamEvents extends LogEvents {
  /** Prices of all markets. */
  readonly prices: PricesEvent
  /** Book of a market. */
  readonly book: BookEvent
  /** Executions in a market. */
  readonly trades: TradesEvent
  /** Candles of a market. */
  readonly candles: CandlesEvent
}

/** An event of any channel. */
export type StreamEvent = StreamEvents[StreamChannel]
/** An event of any private channel. */
export type LogEvent = LogEvents[LogChannel]
/** An event of any private channel that resumes. */
export type LogChange = LogChanges[LogChannel]
