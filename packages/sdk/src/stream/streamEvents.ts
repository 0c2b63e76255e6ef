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
  readonly channel: 'prices'
  readonly snapshot: boolean
  readonly seq: number
  readonly data: readonly MarketPrice[]
}

/** An event of the book channel: the whole book each time. */
export interface BookEvent {
  readonly channel: 'book'
  readonly market: string
  readonly snapshot: boolean
  readonly seq: number
  readonly data: OrderBook
}

/**
 * An event of the trades channel, newest trade first. A snapshot replaces everything before it: trades in between can
 * be missing.
 */
export interface TradesEvent {
  readonly channel: 'trades'
  readonly market: string
  readonly snapshot: boolean
  readonly data: readonly RecentTrade[]
}

/** An event of the candles channel, oldest candle first. A candle replaces the one with the same `time`. */
export interface CandlesEvent {
  readonly channel: 'candles'
  readonly market: string
  readonly interval: CandleInterval
  readonly snapshot: boolean
  readonly data: readonly Candle[]
}

interface LogEntry<Channel extends LogChannel> {
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

interface OrdersEntry<Channel extends 'orders' | 'fills'> extends LogEntry<Channel> {
  readonly snapshot: false
  readonly data: Order
}

interface OrdersSnapshot<Channel extends 'orders' | 'fills'> extends LogEntry<Channel> {
  readonly snapshot: true
  readonly data: readonly Order[]
}

/** An event of the orders channel: the open orders first (`snapshot`), then each order that changed. */
export type OrdersEvent = OrdersSnapshot<'orders'> | OrdersEntry<'orders'>
/** An event of the fills channel: the last filled orders first (`snapshot`), then each order that was filled. */
export type FillsEvent = OrdersSnapshot<'fills'> | OrdersEntry<'fills'>

/** An event of the positions channel: all open positions, whenever one opens, changes or closes. */
export interface PositionsEvent extends LogEntry<'positions'> {
  readonly snapshot: boolean
  readonly data: readonly Position[]
}

/** An event of the account channel: the account, whenever balances, allowances or agents change. */
export interface AccountChangeEvent extends LogEntry<'account'> {
  readonly snapshot: boolean
  readonly data: Account
}

/** The event type of each channel. */
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

/** An event of any channel. */
export type StreamEvent = StreamEvents[StreamChannel]
/** An event of any private channel. */
export type LogEvent = StreamEvents[LogChannel]
