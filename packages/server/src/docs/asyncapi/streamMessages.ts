import type { Static, TSchema } from '@sinclair/typebox'
import {
  type CLIENT_MESSAGES,
  type CONTROL_MESSAGES,
  type DATA_MESSAGES,
  type OrderBook,
  LOG_CHANNELS,
} from '@bezel/protocol'
import { AGENT, TRADER, ACCOUNT, ORDER, PENDING_ORDER, POSITION, TRADE } from './exampleResources.ts'

/** The texts of a message in the document, beyond its schema. */
export interface MessageEntry<Payload> {
  readonly summary: string
  /** Example payloads, at least one; each is valid against the schema. */
  readonly examples: readonly [Payload, ...Payload[]]
}

/** An entry for each message of a list of schemas. */
export type MessageTable<Schemas extends Readonly<Record<string, TSchema>>> = {
  readonly [Name in keyof Schemas]: MessageEntry<Static<Schemas[Name]>>
}

const SIGNATURE =
  '0x9b1d3f6f0d2c4ea58a7c1b90e64f2d31c5a8776f40be19d2e3c7586fa1b04d926e58c3f17a90b2d4685ce1f73a9d04b62c8f15e7d3a06b94f218ce57a3d0e9611c'

/** The messages that a client may send. */
export const CLIENT_ENTRIES: MessageTable<typeof CLIENT_MESSAGES> = {
  subscribePrices: {
    summary: 'Subscribes to the mark and index price of every market',
    examples: [{ op: 'subscribe', channel: 'prices' }],
  },
  subscribeMarket: {
    summary: 'Subscribes to the book or the trades of a market',
    examples: [
      { op: 'subscribe', channel: 'book', market: 'BTC/USD' },
      { op: 'subscribe', channel: 'trades', market: 'BTC/USD' },
    ],
  },
  subscribeCandles: {
    summary: 'Subscribes to the candles of a market',
    examples: [{ op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' }],
  },
  subscribeLog: {
    summary:
      "Subscribes to the trader's own orders, fills, positions or account. With `fromSeq` there is no snapshot, but every event of the channel from that one on",
    examples: [
      { op: 'subscribe', channel: 'orders' },
      { op: 'subscribe', channel: 'orders', fromSeq: 18 },
    ],
  },
  unsubscribePrices: {
    summary: 'Ends the subscription to prices',
    examples: [{ op: 'unsubscribe', channel: 'prices' }],
  },
  unsubscribeMarket: {
    summary: 'Ends the subscription to the book or the trades of a market',
    examples: [{ op: 'unsubscribe', channel: 'book', market: 'BTC/USD' }],
  },
  unsubscribeCandles: {
    summary: 'Ends the subscription to the candles of a market and interval',
    examples: [{ op: 'unsubscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' }],
  },
  unsubscribeLog: {
    summary: 'Ends the subscription to a private channel',
    examples: [{ op: 'unsubscribe', channel: 'orders' }],
  },
  authAgent: {
    summary:
      'Authenticates as an agent by its EIP-712 signature with primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws` and the hash of an empty body',
    examples: [
      { op: 'auth', agent: AGENT, timestamp: '1790000000000', nonce: '1790000000000001', signature: SIGNATURE },
      {
        op: 'auth',
        agent: AGENT,
        timestamp: '1790000000000',
        nonce: '1790000000000001',
        signature: SIGNATURE,
        trader: TRADER,
      },
    ],
  },
  authKey: {
    summary: 'Authenticates as the trader by a read-only key',
    examples: [{ op: 'auth', apiKey: 'bz_3q2-7wABcDeFgHiJkLmNoPqRsTuVwXyZ0123456789a' }],
  },
  ping: { summary: 'Asks for a `pong`', examples: [{ op: 'ping' }] },
  pong: {
    summary: 'Answers a `ping`, with or without its timestamp',
    examples: [{ op: 'pong' }, { op: 'pong', timestamp: 1_790_000_015_000 }],
  },
}

/** The messages that the service sends besides data. */
export const CONTROL_ENTRIES: MessageTable<typeof CONTROL_MESSAGES> = {
  hello: {
    summary: 'Greets the client; it is the first message of every socket',
    examples: [{ op: 'hello', chain: 'arbitrum', heartbeatMs: 15_000 }],
  },
  ping: {
    summary: 'Asks every `heartbeatMs` for a sign of life: a `pong` or any other message',
    examples: [{ op: 'ping', timestamp: 1_790_000_015_000 }],
  },
  pong: { summary: 'Answers a `ping`', examples: [{ op: 'pong', timestamp: 1_790_000_003_217 }] },
  authenticated: {
    summary: 'Accepts the credentials; the client can subscribe to private channels now',
    examples: [{ op: 'authenticated', trader: TRADER, via: 'agent' }],
  },
  subscribed: {
    summary: 'Confirms a subscription; data follow. With `duplicate` it existed already, and nothing changed',
    examples: [
      { op: 'subscribed', channel: 'candles', market: 'BTC/USD', interval: '1m' },
      { op: 'subscribed', channel: 'prices', duplicate: true },
    ],
  },
  unsubscribed: {
    summary: 'Confirms the end of a subscription, also of one that did not exist',
    examples: [{ op: 'unsubscribed', channel: 'book', market: 'BTC/USD' }],
  },
  error: {
    summary:
      'Refuses a message, with a code of the REST operations. The socket stays open unless it is closed right after',
    examples: [
      {
        op: 'error',
        id: 7,
        code: 'MARKET_NOT_FOUND',
        message: 'There is no market "BTC/USDT" on this chain. Did you mean BTC/USD?',
        channel: 'book',
        market: 'BTC/USDT',
        details: {
          market: 'BTC/USDT',
          nearest: 'BTC/USD',
          nearestPath: 'BTC-USD',
          requestId: '3b0f4a52-7c1d-4a57-9d0a-0f0a3c1f6f5e',
          docs: '/docs/errors#market_not_found',
        },
      },
    ],
  },
}

const BOOK: OrderBook = {
  market: 'BTC/USD',
  markPrice: '60000',
  bids: [{ price: '59988', size: '0.2005334400213376', sizeUsd: '12029.6', cumulativeUsd: '12029.6' }],
  asks: [{ price: '60012', size: '0.200453242684796374', sizeUsd: '12029.6', cumulativeUsd: '12029.6' }],
  timestamp: 1_790_000_003_250,
}

const CANDLE = { time: 1_789_999_980_000, open: '61240', high: '61266.2', low: '61231.7', close: '61250.4' }

/** The messages that carry the data of a channel. */
export const DATA_ENTRIES: MessageTable<typeof DATA_MESSAGES> = {
  prices: {
    summary: 'Carries first all markets, then those whose price changed',
    examples: [
      {
        channel: 'prices',
        snapshot: false,
        seq: 90_417,
        data: [{ market: 'BTC/USD', mark: '61250.4', index: '61248.1', updatedAt: 1_790_000_003_250 }],
      },
    ],
  },
  book: {
    summary: 'Carries the whole book each time',
    examples: [{ channel: 'book', market: 'BTC/USD', snapshot: false, seq: 5_120, data: BOOK }],
  },
  trades: {
    summary: 'Carries first the last trades, newest first, then those of each block',
    examples: [{ channel: 'trades', market: 'BTC/USD', snapshot: false, data: [TRADE] }],
  },
  candles: {
    summary: 'Carries first recent candles, oldest first, then those that changed',
    examples: [{ channel: 'candles', market: 'BTC/USD', interval: '1m', snapshot: false, data: [CANDLE] }],
  },
  orders: {
    summary: 'Carries first the open orders as a list, then each order whose state changed',
    examples: [
      { channel: 'orders', ...snapshot(16), data: [] },
      { channel: 'orders', ...live(17), data: ORDER },
      { channel: 'orders', ...live(21), reverted: true, data: PENDING_ORDER },
    ],
  },
  fills: {
    summary: 'Carries first the last filled orders as a list, newest first, then each order that was filled',
    examples: [{ channel: 'fills', ...live(18), data: ORDER }],
  },
  positions: {
    summary: 'Carries all open positions: first as of now, then whenever one opens, changes or closes',
    examples: [{ channel: 'positions', ...live(19), data: [POSITION] }],
  },
  account: {
    summary: 'Carries balances, allowances and agents: first as of now, then whenever one of them changes',
    examples: [{ channel: 'account', ...live(20), block: null, data: ACCOUNT }],
  },
}

/** Returns the fields of an event that a block caused. */
function live(seq: number) {
  return { snapshot: false, seq, timestamp: 1_790_000_002_000, block: 215_007_431, reverted: false }
}

function snapshot(seq: number) {
  return { snapshot: true, seq, timestamp: 1_790_000_005_120, block: null, reverted: false }
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
