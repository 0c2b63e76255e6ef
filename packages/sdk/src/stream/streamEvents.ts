import type {
  Account,
  Candle,
  CandleInterval,
  LogChannel,
  Order,
  OrderBook,
  Position,
  Price,
  RecentTrade,
  StreamChannel,
} from '@bezel/protocol/wire'

// What the service tells on each channel. Shapes are those of the REST operations.

/** All markets first (`snapshot`), then those that changed. */
export interface PricesEvent {
  readonly channel: 'prices'
  readonly snapshot: boolean
  readonly seq: number
  readonly data: readonly Price[]
}

/** The whole book, each time. */
export interface BookEvent {
  readonly channel: 'book'
  readonly market: string
  readonly snapshot: boolean
  readonly seq: number
  readonly data: OrderBook
}

/** Newest first. A snapshot replaces what was told before: trades between the two can be missing. */
export interface TradesEvent {
  readonly channel: 'trades'
  readonly market: string
  readonly snapshot: boolean
  readonly data: readonly RecentTrade[]
}

/** Oldest first; replace candles by their `time`. */
export interface CandlesEvent {
  readonly channel: 'candles'
  readonly market: string
  readonly interval: CandleInterval
  readonly snapshot: boolean
  readonly data: readonly Candle[]
}

interface LogEntry<Channel extends LogChannel> {
  readonly channel: Channel
  /** Place in the trader's log, which all four private channels share. */
  readonly seq: number
  readonly timestamp: number
  /** The block that told it; null when a request or the clock did. */
  readonly block: number | null
  /** A reorganisation changed the past: the data is what holds now. */
  readonly reverted: boolean
}

interface OrdersEntry<Channel extends 'orders' | 'fills'> extends LogEntry<Channel> {
  readonly snapshot: false
  readonly data: Order
}

interface OrdersSnapshot<Channel extends 'orders' | 'fills'> extends LogEntry<Channel> {
  readonly snapshot: true
  readonly data: readonly Order[]
}

/** The open orders first (`snapshot`), then each order that changed. */
export type OrdersEvent = OrdersSnapshot<'orders'> | OrdersEntry<'orders'>
/** The last filled orders first (`snapshot`), then each order that was filled. */
export type FillsEvent = OrdersSnapshot<'fills'> | OrdersEntry<'fills'>

/** All open positions, whenever one opens, changes or closes. */
export interface PositionsEvent extends LogEntry<'positions'> {
  readonly snapshot: boolean
  readonly data: readonly Position[]
}

/** The account, whenever balances, allowances or agents change. */
export interface AccountChangeEvent extends LogEntry<'account'> {
  readonly snapshot: boolean
  readonly data: Account
}

/** What each channel tells. */
export interface StreamEvents {
  readonly prices: PricesEvent
  readonly book: BookEvent
  readonly trades: TradesEvent
  readonly candles: CandlesEvent
  readonly orders: OrdersEvent
  readonly fills: FillsEvent
  readonly positions: PositionsEvent
  readonly account: AccountChangeEvent
}

/** Anything that a channel tells. */
export type StreamEvent = StreamEvents[StreamChannel]
/** Anything that a private channel tells. */
export type LogEvent = StreamEvents[LogChannel]
