import type { Brand } from './brand.ts'

export const MARKET_SYMBOL_PATTERN = /^[A-Z0-9.]{1,15}\/[A-Z0-9]{1,10}$/

/** A market as bodies and answers name it: `BTC/USD`. */
export type MarketSymbol = Brand<string, 'MarketSymbol'>

/** `undefined` when it is no market symbol. */
export function parseMarketSymbol(text: string): MarketSymbol | undefined {
  return MARKET_SYMBOL_PATTERN.test(text) ? (text as MarketSymbol) : undefined
}

/** The `{symbol}` of a path, already percent-decoded: `BTC-USD` and `BTC/USD` are the same market. */
export function parsePathSymbol(segment: string): MarketSymbol | undefined {
  return parseMarketSymbol(segment.includes('/') ? segment : segment.replace('-', '/'))
}

/**
 * The symbol of a pair listed on chain, `undefined` when its names can't be written as one. A share listed again after a split
 * is named `AMZN_1` there; the suffix is no part of its symbol. So two pairs can have one symbol: the one with the higher index is traded.
 */
export function symbolOfPair(from: string, to: string): MarketSymbol | undefined {
  return parseMarketSymbol(`${from.replace(/_\d+$/, '')}/${to}`)
}
