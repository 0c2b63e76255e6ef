import type {
  ApiError,
  CandleInterval,
  ChainSlug,
  CLIENT_MESSAGES,
  LogChannel,
  MessageId,
  StreamChannel,
} from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'
import type { Caller } from '../access/caller.ts'

/** The parts of a client's message by which its answer is recognised. */
export interface MessageLabel {
  readonly id?: MessageId
  readonly channel?: StreamChannel
  readonly market?: string
  readonly interval?: CandleInterval
}

/** The part of a socket that channels use. */
export interface Connection {
  readonly chain: ChainSlug
  /** The authenticated caller; `undefined` before the authentication. */
  caller: Caller | undefined
  /** True while messages can still reach the client. */
  readonly isOpen: boolean
  /**
   * Sends a control or log message, which is never dropped. When more than `maxQueuedLogBytes` (bounds.ts) are queued,
   * the client is sent RATE_LIMITED and the socket is closed with 4429.
   */
  send(text: string): void
  /**
   * Writes a finished frame of a latest-value channel. Returns false, and writes nothing, when the client is too far
   * behind: the channel then sends a snapshot once it has caught up.
   */
  offer(frame: Buffer): boolean
  /**
   * Calls the listener once, when all queued bytes are written; when few are queued, right after this call. Never calls
   * it after the close.
   */
  onDrain(listener: () => void): void
  /** Sends an error, with the parts of the message or subscription that it is about. The socket stays open. */
  refuse(error: ApiError, about?: MessageLabel): void
  /**
   * Ends the caller's authentication when its credentials became invalid: sends the error, closes all private
   * subscriptions and clears `caller`, so that the client has to authenticate again.
   */
  lapse(error: ApiError): void
  /**
   * True when so much is queued that `offer` would refuse. A sender of many messages then waits for `onDrain`, to avoid
   * being cut.
   */
  readonly isBehind: boolean
  /** Sends, as `send` does, a finished frame (`frames.ts`) that many sockets share. */
  sendFrame(frame: Buffer): void
  close(code: number, reason: string): void
}

/** One channel (of one market, at one interval) on one socket. */
export interface Subscription {
  /** Starts the channel's messages. Called once, after `subscribed` was sent. */
  start(): void
  /** Ends the subscription, started or not. Nothing is sent after it. */
  close(): void
}

/** A channel that sockets can subscribe to. */
export interface Channel<Message> {
  /**
   * Creates a subscription. Throws (or rejects with) an `ApiError`, which becomes an error message, before anything is
   * sent.
   */
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

/** All channels of one chain. Private channels are only called for a connection with a caller. */
export type Channels = { readonly [Name in StreamChannel]: Channel<SubscribeMessages[Name]> }
