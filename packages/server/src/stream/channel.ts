import type { CLIENT_MESSAGES, LogChannel, StreamChannel } from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'
import type { Connection } from './connection.ts'

/** One channel (of one market, at one interval) on one socket. */
export interface Subscription {
  /** Called once, after `subscribed` was sent: from here on the channel may send. */
  start(): void
  /** Ends it, started or not. Nothing is sent after it. */
  close(): void
}

/** What a socket can listen to. */
export interface Channel<Message> {
  /** Throws (or rejects with) an `ApiError`, which becomes an error message, before anything is sent. */
  subscribe(connection: Connection, message: Message): Subscription | Promise<Subscription>
}

export type SubscribePrices = Static<typeof CLIENT_MESSAGES.subscribePrices>
export type SubscribeMarket = Static<typeof CLIENT_MESSAGES.subscribeMarket>
export type SubscribeCandles = Static<typeof CLIENT_MESSAGES.subscribeCandles>
export type SubscribeLog = Static<typeof CLIENT_MESSAGES.subscribeLog>

/** The message that subscribes to each channel. */
interface SubscribeMessages extends Record<LogChannel, SubscribeLog> {
  readonly prices: SubscribePrices
  readonly book: SubscribeMarket
  readonly trades: SubscribeMarket
  readonly candles: SubscribeCandles
}

/** All channels of one chain. A private one is asked only when the connection has a caller. */
export type Channels = { readonly [Name in StreamChannel]: Channel<SubscribeMessages[Name]> }
