import type { CONTROL_MESSAGES } from '@bezel/protocol'
import { TRADER } from './exampleResources.ts'
import type { MessageTable } from './messageEntry.ts'

/** What the service says beside data. */
export const CONTROL_ENTRIES: MessageTable<typeof CONTROL_MESSAGES> = {
  hello: {
    summary: 'The first message of every socket',
    examples: [{ op: 'hello', chain: 'arbitrum', heartbeatMs: 15_000 }],
  },
  ping: {
    summary: 'Every `heartbeatMs`: answer with `pong`, or say anything else',
    examples: [{ op: 'ping', timestamp: 1_790_000_015_000 }],
  },
  pong: { summary: 'The answer to `ping`', examples: [{ op: 'pong', timestamp: 1_790_000_003_217 }] },
  authenticated: {
    summary: 'The credentials are good; private channels can be subscribed to',
    examples: [{ op: 'authenticated', trader: TRADER, via: 'agent' }],
  },
  subscribed: {
    summary: 'Data follow. `duplicate`: it was subscribed already, and nothing changed',
    examples: [
      { op: 'subscribed', channel: 'candles', market: 'BTC/USD', interval: '1m' },
      { op: 'subscribed', channel: 'prices', duplicate: true },
    ],
  },
  unsubscribed: {
    summary: 'No data follow, also when it was not subscribed',
    examples: [{ op: 'unsubscribed', channel: 'book', market: 'BTC/USD' }],
  },
  error: {
    summary:
      'A message was refused, with a code of the REST operations. The socket stays open unless it is closed right after',
    examples: [{ op: 'error', code: 'MARKET_NOT_FOUND', message: 'There is no such market on this chain.' }],
  },
}
