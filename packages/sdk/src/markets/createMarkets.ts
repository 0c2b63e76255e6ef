import type {
  Candle,
  CandleInterval,
  MarketFunding,
  MarketRecord,
  OrderBook,
  MarketPrice,
  RecentTrade,
} from '@bezel/protocol/wire'
import { type Transport, queryOf } from '../http/createTransport.ts'

/** Reads of public market data. Symbols are `BTC/USD` or `BTC-USD`. */
export interface Markets {
  /** Lists all markets of the chain. */
  list(): Promise<MarketRecord[]>
  /** Reads one market. */
  get(symbol: string): Promise<MarketRecord>
  /** Reads the depth around the mark price, outside the spread. Default 20 levels a side; 1 to 30. */
  book(symbol: string, options?: { readonly levels?: number }): Promise<OrderBook>
  /** Reads candles of the mark price, oldest first. `from` and `to` are epoch milliseconds. */
  candles(symbol: string, options?: CandleRange): Promise<Candle[]>
  /** Reads the latest executions of all traders, newest first. Default limit 100; 1 to 500. */
  trades(symbol: string, options?: { readonly limit?: number }): Promise<RecentTrade[]>
  /** Reads the funding rates of a market. */
  funding(symbol: string): Promise<MarketFunding>
  /** Reads the current prices of all markets. */
  prices(): Promise<MarketPrice[]>
}

/** The candles to read. */
export interface CandleRange {
  /** Width of a candle. Default `1h`. */
  readonly interval?: CandleInterval
  /** Time of the earliest candle in epoch milliseconds. Default: 500 widths before `to`; at most 5,000 before it. */
  readonly from?: number
  /** Time of the latest candle in epoch milliseconds. Default: now. */
  readonly to?: number
}

/** Creates the markets part of a client. `root` is `/v1/{chain}`. */
export function createMarkets(transport: Transport, root: string): Markets {
  const read = <Answer>(operationId: string, path: string): Promise<Answer> =>
    transport.call<Answer>({ operationId, method: 'GET', path: root + path, auth: 'none', retry: 'read' })
  const list = async <Item>(operationId: string, path: string): Promise<Item[]> =>
    (await read<{ data: Item[] }>(operationId, path)).data
  const of = (symbol: string): string => `/markets/${encodeURIComponent(symbol)}`
  return {
    list: () => list('listMarkets', '/markets'),
    get: (symbol) => read('getMarket', of(symbol)),
    book: (symbol, { levels } = {}) => read('getOrderBook', `${of(symbol)}/book${queryOf({ levels })}`),
    candles: (symbol, { interval, from, to } = {}) =>
      list('getCandles', `${of(symbol)}/candles${queryOf({ interval, from, to })}`),
    trades: (symbol, { limit } = {}) => list('getRecentTrades', `${of(symbol)}/trades${queryOf({ limit })}`),
    funding: (symbol) => read('getFunding', `${of(symbol)}/funding`),
    prices: () => list('getPrices', '/prices'),
  }
}
