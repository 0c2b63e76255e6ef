import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { AccountSchema, SeqSchema } from './account.ts'
import { LOG_CHANNELS, type LogChannel } from '../values/identifiers.ts'
import { CandleIntervalSchema, CandleSchema, OrderBookSchema, PriceSchema, RecentTradeSchema } from './market.ts'
import { OrderSchema } from './order.ts'
import { PositionSchema } from './position.ts'
import { AddressSchema, ChainSlugSchema, Closed, MarketSymbolSchema, Nullable, TimestampSchema } from './scalars.ts'

// The messages of the WebSocket /v1/{chain}/ws.

export const STREAM_CHANNELS = ['prices', 'book', 'trades', 'candles', ...LOG_CHANNELS] as const

export type StreamChannel = (typeof STREAM_CHANNELS)[number]

/** A timestamp or nonce of `auth`: digits, as in the headers. */
const Digits = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,77})$' })

/** The trader whose account is meant; credentials of another one are refused. */
const NamedTrader = Type.Optional(AddressSchema)

const LogChannelSchema = Type.Union(LOG_CHANNELS.map((channel) => Type.Literal(channel)))

const prices = { channel: Type.Literal('prices') }

const ofMarket = {
  channel: Type.Union([Type.Literal('book'), Type.Literal('trades')]),
  market: MarketSymbolSchema,
}

const candles = {
  channel: Type.Literal('candles'),
  market: MarketSymbolSchema,
  interval: CandleIntervalSchema,
}

/** A name that the client gives its message. The answer to the message repeats it. */
export const MessageIdSchema = Type.Union([
  Type.String({ minLength: 1, maxLength: 64 }),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
])

export type MessageId = Static<typeof MessageIdSchema>

const named = { id: Type.Optional(MessageIdSchema) }

const subscribe = { op: Type.Literal('subscribe'), ...named }

const unsubscribe = { op: Type.Literal('unsubscribe'), ...named }

/** The messages of a client, by name. */
export const CLIENT_MESSAGES = {
  subscribePrices: Closed({ ...subscribe, ...prices }),
  subscribeMarket: Closed({ ...subscribe, ...ofMarket }),
  subscribeCandles: Closed({ ...subscribe, ...candles }),
  subscribeLog: Closed({
    ...subscribe,
    channel: LogChannelSchema,
    fromSeq: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  unsubscribePrices: Closed({ ...unsubscribe, ...prices }),
  unsubscribeMarket: Closed({ ...unsubscribe, ...ofMarket }),
  unsubscribeCandles: Closed({ ...unsubscribe, ...candles }),
  unsubscribeLog: Closed({ ...unsubscribe, channel: LogChannelSchema }),
  authAgent: Closed({
    op: Type.Literal('auth'),
    ...named,
    agent: AddressSchema,
    timestamp: Digits,
    nonce: Digits,
    signature: Type.String({ pattern: '^0x[0-9a-fA-F]{130}$' }),
    trader: NamedTrader,
  }),
  authKey: Closed({
    op: Type.Literal('auth'),
    ...named,
    apiKey: Type.String({ minLength: 1, maxLength: 128 }),
    trader: NamedTrader,
  }),
  ping: Closed({ op: Type.Literal('ping'), ...named }),
  pong: Closed({ op: Type.Literal('pong'), ...named, timestamp: Type.Optional(TimestampSchema) }),
} as const

export type ClientMessage = {
  [Name in keyof typeof CLIENT_MESSAGES]: Static<(typeof CLIENT_MESSAGES)[Name]>
}[keyof typeof CLIENT_MESSAGES]

const subscription = {
  channel: Type.Union(STREAM_CHANNELS.map((channel) => Type.Literal(channel))),
  market: Type.Optional(MarketSymbolSchema),
  interval: Type.Optional(CandleIntervalSchema),
}

/** The messages of the service that carry no data, by their `op`. */
export const CONTROL_MESSAGES = {
  hello: Closed({ op: Type.Literal('hello'), chain: ChainSlugSchema, heartbeatMs: Type.Integer() }),
  ping: Closed({ op: Type.Literal('ping'), timestamp: TimestampSchema }),
  pong: Closed({ op: Type.Literal('pong'), ...named, timestamp: TimestampSchema }),
  authenticated: Closed({
    op: Type.Literal('authenticated'),
    ...named,
    trader: AddressSchema,
    via: Type.Union([Type.Literal('agent'), Type.Literal('apiKey')]),
  }),
  subscribed: Closed({
    op: Type.Literal('subscribed'),
    ...named,
    ...subscription,
    /** Present when the topic was subscribed already and nothing changed. */
    duplicate: Type.Optional(Type.Literal(true)),
  }),
  unsubscribed: Closed({ op: Type.Literal('unsubscribed'), ...named, ...subscription }),
  error: Closed({
    op: Type.Literal('error'),
    /** The id of the refused message, when it had one. */
    ...named,
    code: Type.String(),
    message: Type.String(),
    /** The channel that the error is about; absent when it is about no channel, or about the whole socket. */
    channel: Type.Optional(subscription.channel),
    market: subscription.market,
    interval: subscription.interval,
    /** The details of the error, as in REST operations. `requestId` is that of the request that opened the socket. */
    details: Type.Unsafe<{ readonly requestId: string; readonly docs: string } & Readonly<Record<string, unknown>>>(
      Type.Object({ requestId: Type.String(), docs: Type.String() }, { additionalProperties: true }),
    ),
  }),
} as const

const snapshot = Type.Boolean()

function logMessage<Data extends TSchema>(channel: LogChannel, data: Data) {
  return Closed({
    channel: Type.Literal(channel),
    snapshot,
    /** Number of the last event that a snapshot includes. */
    seq: SeqSchema,
    timestamp: TimestampSchema,
    block: Nullable(Type.Integer({ minimum: 0 })),
    reverted: Type.Boolean(),
    data,
  })
}

/** The messages that carry data, by channel. */
export const DATA_MESSAGES = {
  prices: Closed({ ...prices, snapshot, seq: SeqSchema, data: Type.Array(PriceSchema) }),
  book: Closed({
    channel: Type.Literal('book'),
    market: MarketSymbolSchema,
    snapshot,
    seq: SeqSchema,
    data: OrderBookSchema,
  }),
  trades: Closed({
    channel: Type.Literal('trades'),
    market: MarketSymbolSchema,
    snapshot,
    data: Type.Array(RecentTradeSchema),
  }),
  candles: Closed({ ...candles, snapshot, data: Type.Array(CandleSchema) }),
  orders: logMessage('orders', Type.Union([Type.Array(OrderSchema), OrderSchema])),
  fills: logMessage('fills', Type.Union([Type.Array(OrderSchema), OrderSchema])),
  positions: logMessage('positions', Type.Array(PositionSchema)),
  account: logMessage('account', AccountSchema),
} as const satisfies Readonly<Record<StreamChannel, TSchema>>

/** Reasons for which the service closes a socket. */
export const CLOSE_CODES = {
  normal: 1000,
  shutdown: 1001,
  /** The client sent binary data; only text is understood. */
  binary: 1003,
  tooLarge: 1009,
  idle: 4408,
  rateLimited: 4429,
} as const
