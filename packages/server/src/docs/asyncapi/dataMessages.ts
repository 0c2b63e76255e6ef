import type { DATA_MESSAGES, OrderBook } from '@bezel/protocol'
import { ACCOUNT, ORDER, PENDING_ORDER, POSITION, TRADE } from './exampleResources.ts'
import type { MessageTable } from './messageEntry.ts'

const BOOK: OrderBook = {
  market: 'BTC/USD',
  markPrice: '60000',
  bids: [{ price: '59997', size: '0.200503358501258396', sizeUsd: '12029.6', cumulativeUsd: '12029.6' }],
  asks: [{ price: '60003', size: '0.20048330916787494', sizeUsd: '12029.6', cumulativeUsd: '12029.6' }],
  timestamp: 1_790_000_003_250,
}

const CANDLE = { time: 1_789_999_980_000, open: '61240', high: '61266.2', low: '61231.7', close: '61250.4' }

/** Of an event that a block told. */
function live(seq: number) {
  return { snapshot: false, seq, timestamp: 1_790_000_002_000, block: 215_007_431, reverted: false }
}

function snapshot(seq: number) {
  return { snapshot: true, seq, timestamp: 1_790_000_005_120, block: null, reverted: false }
}

/** Data. */
export const DATA_ENTRIES: MessageTable<typeof DATA_MESSAGES> = {
  prices: {
    summary: 'First all markets, then those whose price changed',
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
    summary: 'The whole book, each time',
    examples: [{ channel: 'book', market: 'BTC/USD', snapshot: false, seq: 5_120, data: BOOK }],
  },
  trades: {
    summary: 'First the last trades, newest first; then those of each block',
    examples: [{ channel: 'trades', market: 'BTC/USD', snapshot: false, data: [TRADE] }],
  },
  candles: {
    summary: 'First recent candles, oldest first; then those that changed',
    examples: [{ channel: 'candles', market: 'BTC/USD', interval: '1m', snapshot: false, data: [CANDLE] }],
  },
  orders: {
    summary: 'First the open orders, as a list; then each order whose state changed',
    examples: [
      { channel: 'orders', ...snapshot(16), data: [] },
      { channel: 'orders', ...live(17), data: ORDER },
      { channel: 'orders', ...live(21), reverted: true, data: PENDING_ORDER },
    ],
  },
  fills: {
    summary: 'First the last filled orders, newest first, as a list; then each order that was filled',
    examples: [{ channel: 'fills', ...live(18), data: ORDER }],
  },
  positions: {
    summary: 'All open positions: first as of now, then whenever one opens, changes or closes',
    examples: [{ channel: 'positions', ...live(19), data: [POSITION] }],
  },
  account: {
    summary: 'Balances, allowances and agents: first as of now, then whenever one of them changes',
    examples: [{ channel: 'account', ...live(20), block: null, data: ACCOUNT }],
  },
}
