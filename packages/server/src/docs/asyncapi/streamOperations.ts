import { LOG_CHANNELS, type CLIENT_MESSAGES, type CONTROL_MESSAGES, type DATA_MESSAGES } from '@bezel/protocol'

type ClientName = keyof typeof CLIENT_MESSAGES
type ControlName = keyof typeof CONTROL_MESSAGES
type DataName = keyof typeof DATA_MESSAGES

/** Something that goes on between client and service, seen from the service. */
export interface StreamOperation {
  readonly action: 'receive' | 'send'
  readonly summary: string
  /** Needs credentials. */
  readonly isPrivate?: boolean
  readonly client?: readonly ClientName[]
  readonly control?: readonly ControlName[]
  readonly data?: readonly DataName[]
  /** What a message that is received is answered with. */
  readonly reply?: readonly ControlName[]
}

/** Every message is part of one of these. */
export const STREAM_OPERATIONS: Readonly<Record<string, StreamOperation>> = {
  subscribe: {
    action: 'receive',
    summary: 'Subscribe to market data',
    client: ['subscribePrices', 'subscribeMarket', 'subscribeCandles'],
    reply: ['subscribed', 'error'],
  },
  subscribeAccount: {
    action: 'receive',
    summary: "Subscribe to the trader's own events",
    isPrivate: true,
    client: ['subscribeLog'],
    reply: ['subscribed', 'error'],
  },
  unsubscribe: {
    action: 'receive',
    summary: 'End a subscription',
    client: ['unsubscribePrices', 'unsubscribeMarket', 'unsubscribeCandles', 'unsubscribeLog'],
    reply: ['unsubscribed', 'error'],
  },
  authenticate: {
    action: 'receive',
    summary: 'Say who is at the other end, once per socket',
    client: ['authAgent', 'authKey'],
    reply: ['authenticated', 'error'],
  },
  receivePing: { action: 'receive', summary: 'Is the service there?', client: ['ping'], reply: ['pong'] },
  receivePong: { action: 'receive', summary: 'The client is there', client: ['pong'] },
  greet: { action: 'send', summary: 'Once, when the socket opens', control: ['hello'] },
  sendPing: { action: 'send', summary: 'Is the client there?', control: ['ping'] },
  sendMarketData: {
    action: 'send',
    summary: 'A snapshot, then what changes',
    data: ['prices', 'book', 'trades', 'candles'],
  },
  sendAccountEvents: {
    action: 'send',
    summary: 'A snapshot, then events with one dense `seq` over all four channels of the trader',
    isPrivate: true,
    data: LOG_CHANNELS,
  },
}
