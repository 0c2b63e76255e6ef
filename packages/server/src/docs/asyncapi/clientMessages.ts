import type { CLIENT_MESSAGES } from '@bezel/protocol'
import { AGENT } from './exampleResources.ts'
import type { MessageTable } from './messageEntry.ts'

const SIGNATURE =
  '0x9b1d3f6f0d2c4ea58a7c1b90e64f2d31c5a8776f40be19d2e3c7586fa1b04d926e58c3f17a90b2d4685ce1f73a9d04b62c8f15e7d3a06b94f218ce57a3d0e9611c'

/** What a client may say. */
export const CLIENT_ENTRIES: MessageTable<typeof CLIENT_MESSAGES> = {
  subscribePrices: {
    summary: 'Mark and index of every market',
    examples: [{ op: 'subscribe', channel: 'prices' }],
  },
  subscribeMarket: {
    summary: 'The book or the trades of a market',
    examples: [
      { op: 'subscribe', channel: 'book', market: 'BTC/USD' },
      { op: 'subscribe', channel: 'trades', market: 'BTC/USD' },
    ],
  },
  subscribeCandles: {
    summary: 'The candles of a market',
    examples: [{ op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' }],
  },
  subscribeLog: {
    summary:
      "The trader's own orders, fills, positions or account. With `fromSeq`: no snapshot, but every event of the channel from that one on",
    examples: [
      { op: 'subscribe', channel: 'orders' },
      { op: 'subscribe', channel: 'orders', fromSeq: 18 },
    ],
  },
  unsubscribePrices: {
    summary: 'No more prices',
    examples: [{ op: 'unsubscribe', channel: 'prices' }],
  },
  unsubscribeMarket: {
    summary: 'No more book or trades of a market',
    examples: [{ op: 'unsubscribe', channel: 'book', market: 'BTC/USD' }],
  },
  unsubscribeCandles: {
    summary: 'No more candles of a market and interval',
    examples: [{ op: 'unsubscribe', channel: 'candles', market: 'BTC/USD', interval: '1m' }],
  },
  unsubscribeLog: {
    summary: 'No more events of a private channel',
    examples: [{ op: 'unsubscribe', channel: 'orders' }],
  },
  authAgent: {
    summary:
      'Credentials of an agent: its EIP-712 signature with primary type `wsAuth`, method `WS`, path `/v1/{chain}/ws` and the hash of an empty body',
    examples: [
      { op: 'auth', agent: AGENT, timestamp: '1790000000000', nonce: '1790000000000001', signature: SIGNATURE },
    ],
  },
  authKey: {
    summary: 'A read-only key of the trader',
    examples: [{ op: 'auth', apiKey: 'bz_3q2-7wABcDeFgHiJkLmNoPqRsTuVwXyZ0123456789a' }],
  },
  ping: { summary: 'Answered by `pong`', examples: [{ op: 'ping' }] },
  pong: {
    summary: 'The answer to `ping`, with its timestamp or without',
    examples: [{ op: 'pong' }, { op: 'pong', timestamp: 1_790_000_015_000 }],
  },
}
