import type { TSchema } from '@sinclair/typebox'
import { LOG_CHANNELS, type CLIENT_MESSAGES, type CONTROL_MESSAGES, type DATA_MESSAGES } from '@bezel/protocol'

/** A sentence about each message of a list of schemas. */
type Summaries<Schemas extends Readonly<Record<string, TSchema>>> = { readonly [Name in keyof Schemas]: string }

/** The messages that a client may send. */
export const CLIENT_SUMMARIES: Summaries<typeof CLIENT_MESSAGES> = {
  subscribePrices: 'Subscribes to the mark and index price of every market, or of one',
  subscribeMarket: 'Subscribes to the book or the trades of a market',
  subscribeCandles: 'Subscribes to the candles of a market',
  subscribeLog:
    "Subscribes to the trader's own orders, fills, positions or account. With `fromSeq` there is no snapshot, but every event of the channel from that one on",
  unsubscribePrices: 'Ends the subscription to the prices of all markets, or of the one it names',
  unsubscribeMarket: 'Ends the subscription to the book or the trades of a market',
  unsubscribeCandles: 'Ends the subscription to the candles of a market and interval',
  unsubscribeLog: 'Ends the subscription to a private channel',
  authAgent:
    'Authenticates as an agent by its EIP-712 signature with primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws` and the hash of an empty body',
  authKey: 'Authenticates as the trader by a read-only key',
  ping: 'Asks for a `pong`',
  pong: 'Answers a `ping`, with or without its timestamp',
}

/** The messages that the service sends besides data. */
export const CONTROL_SUMMARIES: Summaries<typeof CONTROL_MESSAGES> = {
  hello: 'Greets the client; it is the first message of every socket',
  ping: 'Asks every `heartbeatMs` for a sign of life: a `pong` or any other message',
  pong: 'Answers a `ping`',
  authenticated: 'Accepts the credentials; the client can subscribe to private channels now',
  subscribed: 'Confirms a subscription; data follow. With `duplicate` it existed already, and nothing changed',
  unsubscribed: 'Confirms the end of a subscription, also of one that did not exist',
  error: 'Refuses a message, with a code of the REST operations. The socket stays open unless it is closed right after',
}

/** The messages that carry the data of a channel. */
export const DATA_SUMMARIES: Summaries<typeof DATA_MESSAGES> = {
  prices: 'Carries first all markets, then those whose price changed; of a subscription to one market its price alone',
  book: 'Carries the whole book each time',
  trades: 'Carries first the last trades, newest first, then those of each block',
  candles: 'Carries first recent candles, oldest first, then those that changed',
  orders: 'Carries first the open orders as a list, then each order whose state changed',
  fills: 'Carries first the last filled orders as a list, newest first, then each order that was filled',
  positions: 'Carries all open positions: first as of now, then whenever one opens, changes or closes',
  account: 'Carries balances, allowances and agents: first as of now, then whenever one of them changes',
}

type ClientName = keyof typeof CLIENT_MESSAGES

type ControlName = keyof typeof CONTROL_MESSAGES

type DataName = keyof typeof DATA_MESSAGES

/** An exchange of messages between client and service, named from the service's side. */
export interface StreamOperation {
  readonly action: 'receive' | 'send'
  readonly summary: string
  /** True when it needs credentials. */
  readonly isPrivate?: boolean
  readonly client?: readonly ClientName[]
  readonly control?: readonly ControlName[]
  readonly data?: readonly DataName[]
  /** Messages that answer the received one. */
  readonly reply?: readonly ControlName[]
}

/** The operations of the stream. Every message is part of one of them. */
export const STREAM_OPERATIONS: Readonly<Record<string, StreamOperation>> = {
  subscribe: {
    action: 'receive',
    summary: 'Subscribes to market data',
    client: ['subscribePrices', 'subscribeMarket', 'subscribeCandles'],
    reply: ['subscribed', 'error'],
  },
  subscribeAccount: {
    action: 'receive',
    summary: "Subscribes to the trader's own events",
    isPrivate: true,
    client: ['subscribeLog'],
    reply: ['subscribed', 'error'],
  },
  unsubscribe: {
    action: 'receive',
    summary: 'Ends a subscription',
    client: ['unsubscribePrices', 'unsubscribeMarket', 'unsubscribeCandles', 'unsubscribeLog'],
    reply: ['unsubscribed', 'error'],
  },
  authenticate: {
    action: 'receive',
    summary: 'Authenticates the client, once per socket',
    client: ['authAgent', 'authKey'],
    reply: ['authenticated', 'error'],
  },
  receivePing: { action: 'receive', summary: 'Checks that the service is alive', client: ['ping'], reply: ['pong'] },
  receivePong: { action: 'receive', summary: 'Shows that the client is alive', client: ['pong'] },
  greet: { action: 'send', summary: 'Greets the client once, when the socket opens', control: ['hello'] },
  sendPing: { action: 'send', summary: 'Checks that the client is alive', control: ['ping'] },
  sendMarketData: {
    action: 'send',
    summary: 'Sends a snapshot, then the changes',
    data: ['prices', 'book', 'trades', 'candles'],
  },
  sendAccountEvents: {
    action: 'send',
    summary: 'Sends a snapshot, then events whose `seq` counts without gaps over all four channels of the trader',
    isPrivate: true,
    data: LOG_CHANNELS,
  },
}
