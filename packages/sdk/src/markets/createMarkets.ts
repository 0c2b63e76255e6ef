import type { Candle, CandleInterval, Funding, MarketRecord, OrderBook, Price, RecentTrade } from '@bezel/protocol/wire'
import type { Transport } from '../http/createTransport.ts'
import { queryOf } from '../http/queryOf.ts'

/** Public market data. Symbols are `BTC/USD` or `BTC-USD`. */
export interface Markets {
  list(): Promise<MarketRecord[]>
  get(symbol: string): Promise<MarketRecord>
  /** Depth around the mark, 1 to 30 levels a side (20). */
  book(symbol: string, options?: { readonly levels?: number }): Promise<OrderBook>
  /** Mark prices, oldest first; `from` and `to` are epoch milliseconds. */
  candles(symbol: string, options?: CandleRange): Promise<Candle[]>
  /** Executions of everybody, newest first, 1 to 500 (100). */
  trades(symbol: string, options?: { readonly limit?: number }): Promise<RecentTrade[]>
  funding(symbol: string): Promise<MarketFunding>
  prices(): Promise<Price[]>
}

export interface CandleRange {
  readonly interval?: CandleInterval
  readonly from?: number
  readonly to?: number
}

export type MarketFunding = Funding & { readonly market: string }

/** `root` is `/v1/{chain}`. */
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
