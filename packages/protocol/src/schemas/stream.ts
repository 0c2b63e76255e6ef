import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { AccountSchema, LOG_FIELDS, LOG_TEXTS, SeqSchema } from './account.ts'
import { LOG_CHANNELS, type LogChannel } from '../values/identifiers.ts'
import { CandleIntervalSchema, CandleSchema, OrderBookSchema, PriceSchema, RecentTradeSchema } from './market.ts'
import { OrderSchema } from './order.ts'
import { PositionSchema } from './position.ts'
import {
  AddressSchema,
  ChainSlugSchema,
  Closed,
  MarketSymbolSchema,
  OneOf,
  RemedySchema,
  TimestampSchema,
} from './scalars.ts'

// The messages of the WebSocket /v1/{chain}/ws.

export const STREAM_CHANNELS = ['prices', 'book', 'trades', 'candles', ...LOG_CHANNELS] as const

/** Name of a channel of the stream. */
export type StreamChannel = (typeof STREAM_CHANNELS)[number]

/** A timestamp or nonce of `auth`: digits, as in the headers. */
const Digits = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,77})$' })

const LogChannelSchema = OneOf(LOG_CHANNELS)

const prices = { channel: Type.Literal('prices'), market: Type.Optional(MarketSymbolSchema) }

const ofMarket = { channel: OneOf(['book', 'trades']), market: MarketSymbolSchema }

const candles = { channel: Type.Literal('candles'), market: MarketSymbolSchema, interval: CandleIntervalSchema }

/** A name that the client gives its message. The answer to the message repeats it. */
export const MessageIdSchema = Type.Union([
  Type.String({ minLength: 1, maxLength: 64 }),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
])

export type MessageId = Static<typeof MessageIdSchema>

const named = { id: Type.Optional(MessageIdSchema) }

const subscribe = { op: Type.Literal('subscribe'), ...named }

const unsubscribe = { op: Type.Literal('unsubscribe'), ...named }

const CLIENT_TEXTS = {
  op: 'Kind of the message.',
  id: 'Name of the message, a text of 1 to 64 characters or a whole number. The answer repeats it. Default: none.',
  channel: 'Channel that is meant.',
  market: 'Symbol of the market.',
  interval: 'Width of the candles.',
}

const PRICES_TEXTS = {
  ...CLIENT_TEXTS,
  market: 'Symbol of the market whose price is meant, spelled like BTC/USD. Default: all markets.',
}

const TRADER_TEXT =
  'Address of the trader whose account is meant; credentials of another one answer TRADER_MISMATCH. Default: the trader of the credentials.'

/** The messages of a client, by name. */
export const CLIENT_MESSAGES = {
  subscribePrices: Closed({ ...subscribe, ...prices }, PRICES_TEXTS),
  subscribeMarket: Closed({ ...subscribe, ...ofMarket }, CLIENT_TEXTS),
  subscribeCandles: Closed({ ...subscribe, ...candles }, CLIENT_TEXTS),
  subscribeLog: Closed(
    {
      ...subscribe,
      channel: LogChannelSchema,
      fromSeq: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    },
    {
      ...CLIENT_TEXTS,
      fromSeq:
        'Number of the first event that is wanted: the last one that was handled, plus 1. Default: a snapshot, then what is new.',
    },
  ),
  unsubscribePrices: Closed({ ...unsubscribe, ...prices }, PRICES_TEXTS),
  unsubscribeMarket: Closed({ ...unsubscribe, ...ofMarket }, CLIENT_TEXTS),
  unsubscribeCandles: Closed({ ...unsubscribe, ...candles }, CLIENT_TEXTS),
  unsubscribeLog: Closed({ ...unsubscribe, channel: LogChannelSchema }, CLIENT_TEXTS),
  authAgent: Closed(
    {
      op: Type.Literal('auth'),
      ...named,
      agent: AddressSchema,
      timestamp: Digits,
      nonce: Digits,
      signature: Type.String({ pattern: '^0x[0-9a-fA-F]{130}$' }),
      trader: Type.Optional(AddressSchema),
    },
    {
      ...CLIENT_TEXTS,
      agent: 'Address of the agent that signed.',
      timestamp: 'Time of the signature in epoch milliseconds, as signed: digits, within 30 s of server time.',
      nonce: 'A whole number that this agent never used before, as signed: digits.',
      signature:
        "The agent's EIP-712 signature with primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws` and the hash of an empty body: 65 bytes.",
      trader: TRADER_TEXT,
    },
  ),
  authKey: Closed(
    {
      op: Type.Literal('auth'),
      ...named,
      apiKey: Type.String({ minLength: 1, maxLength: 128 }),
      trader: Type.Optional(AddressSchema),
    },
    { ...CLIENT_TEXTS, apiKey: 'A read-only key of the trader on this chain.', trader: TRADER_TEXT },
  ),
  ping: Closed({ op: Type.Literal('ping'), ...named }, CLIENT_TEXTS),
  pong: Closed(
    { op: Type.Literal('pong'), ...named, timestamp: Type.Optional(TimestampSchema) },
    { ...CLIENT_TEXTS, timestamp: '`timestamp` of the ping that it answers. Default: none.' },
  ),
} as const

export type ClientMessage = {
  [Name in keyof typeof CLIENT_MESSAGES]: Static<(typeof CLIENT_MESSAGES)[Name]>
}[keyof typeof CLIENT_MESSAGES]

const subscription = {
  channel: OneOf(STREAM_CHANNELS),
  market: Type.Optional(MarketSymbolSchema),
  interval: Type.Optional(CandleIntervalSchema),
}

const CONTROL_TEXTS = {
  op: 'Kind of the message.',
  id: 'Name of the message that it answers; absent when that had none.',
  channel: 'Channel of the subscription.',
  market: 'Symbol of the market; absent for a subscription that names none.',
  interval: 'Width of the candles; absent for other channels.',
}

/** The messages of the service that carry no data, by their `op`. */
export const CONTROL_MESSAGES = {
  hello: Closed(
    { op: Type.Literal('hello'), chain: ChainSlugSchema, heartbeatMs: Type.Integer() },
    {
      ...CONTROL_TEXTS,
      chain: 'Name of the chain of this socket.',
      heartbeatMs: 'Milliseconds between two pings of the service.',
    },
  ),
  ping: Closed(
    { op: Type.Literal('ping'), timestamp: TimestampSchema },
    { ...CONTROL_TEXTS, timestamp: 'Time of the service in epoch milliseconds.' },
  ),
  pong: Closed(
    { op: Type.Literal('pong'), ...named, timestamp: TimestampSchema },
    { ...CONTROL_TEXTS, timestamp: 'Time of the service in epoch milliseconds.' },
  ),
  authenticated: Closed(
    { op: Type.Literal('authenticated'), ...named, trader: AddressSchema, via: OneOf(['agent', 'apiKey']) },
    {
      ...CONTROL_TEXTS,
      trader: 'Address of the trader whose private channels can be subscribed now.',
      via: 'Kind of the credentials.',
    },
  ),
  subscribed: Closed(
    { op: Type.Literal('subscribed'), ...named, ...subscription, duplicate: Type.Optional(Type.Literal(true)) },
    { ...CONTROL_TEXTS, duplicate: 'Present when the topic was subscribed already and nothing changed.' },
  ),
  unsubscribed: Closed({ op: Type.Literal('unsubscribed'), ...named, ...subscription }, CONTROL_TEXTS),
  error: Closed(
    {
      op: Type.Literal('error'),
      ...named,
      code: Type.String(),
      message: Type.String(),
      channel: Type.Optional(subscription.channel),
      market: subscription.market,
      interval: subscription.interval,
      details: Type.Unsafe<{ readonly requestId: string; readonly docs: string } & Readonly<Record<string, unknown>>>(
        Type.Object(
          {
            remedy: RemedySchema,
            requestId: Type.String({ description: 'Id of the request that opened the socket.' }),
            docs: Type.String({ description: 'Path of the paragraph about the error in the served documentation.' }),
          },
          { additionalProperties: true },
        ),
      ),
    },
    {
      ...CONTROL_TEXTS,
      code: 'Stable code of the error, one of the error table.',
      message: 'The error in words, for people.',
      channel: 'Channel that the error is about; absent when it is about none, or about the whole socket.',
      details: 'Details of the error, as in REST operations.',
    },
  ),
} as const

const snapshot = Type.Boolean()

const DATA_TEXTS = {
  channel: 'Channel of the message.',
  market: 'Symbol of the market.',
  interval: 'Width of the candles.',
  snapshot: 'True when the data replaces everything before it; false for what changed since.',
  seq: 'Number of the message in its channel and market, the same for all sockets. A gap means a lost message: subscribe again.',
}

function logMessage<Data extends TSchema>(channel: LogChannel, data: Data, text: string) {
  return Closed(
    {
      channel: Type.Literal(channel),
      snapshot,
      ...LOG_FIELDS,
      data,
    },
    { ...DATA_TEXTS, ...LOG_TEXTS, data: text },
  )
}

/** The messages that carry data, by channel. */
export const DATA_MESSAGES = {
  prices: Closed(
    { ...prices, snapshot, seq: SeqSchema, data: Type.Array(PriceSchema) },
    {
      ...DATA_TEXTS,
      market: 'Symbol of the market that the subscription names; absent when it is to all markets.',
      data: 'Prices of all markets in a snapshot, then those that changed; with `market` the price of that market alone.',
    },
  ),
  book: Closed(
    { channel: Type.Literal('book'), market: MarketSymbolSchema, snapshot, seq: SeqSchema, data: OrderBookSchema },
    { ...DATA_TEXTS, data: 'The whole book each time.' },
  ),
  trades: Closed(
    { channel: Type.Literal('trades'), market: MarketSymbolSchema, snapshot, data: Type.Array(RecentTradeSchema) },
    { ...DATA_TEXTS, data: 'Executions, newest first.' },
  ),
  candles: Closed(
    { ...candles, snapshot, data: Type.Array(CandleSchema) },
    { ...DATA_TEXTS, data: 'Candles, oldest first. One replaces an earlier one with the same `time`.' },
  ),
  orders: logMessage(
    'orders',
    Type.Union([Type.Array(OrderSchema), OrderSchema]),
    'The open orders in a snapshot, then the order that changed.',
  ),
  fills: logMessage(
    'fills',
    Type.Union([Type.Array(OrderSchema), OrderSchema]),
    'The last filled orders in a snapshot, newest first, then the order that was filled.',
  ),
  positions: logMessage('positions', Type.Array(PositionSchema), 'All open positions.'),
  account: logMessage('account', AccountSchema, 'Balances, allowances and agents.'),
} as const satisfies Readonly<Record<StreamChannel, TSchema>>

/** Reasons for which the service closes a socket. */
export const CLOSE_CODES = {
  normal: 1000,
  /** The client sent binary data; only text is understood. */
  binary: 1003,
  tooLarge: 1009,
  /** The service stops, or reads everything again; its clients connect again. */
  shutdown: 1012,
  idle: 4408,
  rateLimited: 4429,
} as const
