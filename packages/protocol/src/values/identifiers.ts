import { getAddress } from 'viem'

declare const brand: unique symbol

/** A `Base` that only the parse function of `Name` can make, so an unchecked value can't be passed in its place. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/

/** Address of an account or contract in EIP-55 form, so that `===` compares accounts. */
export type Address = Brand<`0x${string}`, 'Address'>

/** Parses an address in any case, even with a wrong checksum, as the interface does; `undefined` when it is none. */
export function parseAddress(text: string): Address | undefined {
  return ADDRESS_PATTERN.test(text) ? (getAddress(text) as Address) : undefined
}

export const HEX_PATTERN = /^0x[0-9a-fA-F]*$/

/** Bytes in hexadecimal, lower case, an even number of digits. */
export type Hex = Brand<`0x${string}`, 'Hex'>

/** Parses bytes in hexadecimal; `undefined` when the text is not hexadecimal or ends in half a byte. */
export function parseHex(text: string): Hex | undefined {
  const isWholeBytes = text.length % 2 === 0 && HEX_PATTERN.test(text)
  return isWholeBytes ? (text.toLowerCase() as Hex) : undefined
}

export const ORDER_ID_PATTERN = /^[1-9]\d{0,15}$/

/** Id of an order or a position: a decimal string that fits a 53-bit integer, because clients read it into a double. */
export type OrderId = Brand<string, 'OrderId'>

/** Parses an id; `undefined` when it is none. Sixteen digits can still be too large for 53 bits. */
export function parseOrderId(text: string): OrderId | undefined {
  return ORDER_ID_PATTERN.test(text) && Number.isSafeInteger(Number(text)) ? (text as OrderId) : undefined
}

export const MARKET_SYMBOL_PATTERN = /^[A-Z0-9.]{1,15}\/[A-Z0-9]{1,10}$/

/** Symbol of a market in bodies and answers: `BTC/USD`. */
export type MarketSymbol = Brand<string, 'MarketSymbol'>

/** Parses a market symbol; `undefined` when it is none. */
export function parseMarketSymbol(text: string): MarketSymbol | undefined {
  return MARKET_SYMBOL_PATTERN.test(text) ? (text as MarketSymbol) : undefined
}

/** Parses the `{symbol}` of a path after percent-decoding: `BTC-USD` and `BTC/USD` are the same market. */
export function parsePathSymbol(segment: string): MarketSymbol | undefined {
  return parseMarketSymbol(segment.includes('/') ? segment : segment.replace('-', '/'))
}

/**
 * Returns the symbol of a pair on chain; `undefined` when its names can't be written as one. A share listed again after
 * a split is named `AMZN_1` there, and the suffix is no part of the symbol. So two pairs can have one symbol: the one
 * with the higher index is traded.
 */
export function symbolOfPair(from: string, to: string): MarketSymbol | undefined {
  return parseMarketSymbol(`${from.replace(/_\d+$/, '')}/${to}`)
}

/** The channels of a trader's own events. Together they are one log with one dense `seq` per trader and chain. */
export const LOG_CHANNELS = ['orders', 'fills', 'positions', 'account'] as const

/** Name of a private channel. */
export type LogChannel = (typeof LOG_CHANNELS)[number]

/** Returns true when the value names one of the private channels, which need credentials and can be resumed. */
export function isLogChannel(value: unknown): value is LogChannel {
  return (LOG_CHANNELS as readonly unknown[]).includes(value)
}
