import { ApiError, nearestName, type MarketSymbol } from '@bezel/protocol'
import { shortList } from '../../ground/shortList.ts'
import type { ChainMarkets } from './chainMarkets.ts'

/** Length up to which a name is quoted and compared: no market has a longer one. */
const MAX_NAME_CHARS = 24

const SPELLING = 'Bodies and the stream spell markets like BTC/USD, paths like BTC-USD, in capitals.'

/**
 * Returns the refusal of a market's name, with the name that was most likely meant, as bodies (`nearest`) and as paths
 * (`nearestPath`) spell it.
 */
export function marketNotFound(markets: ReadonlyMap<string, unknown>, name: string): ApiError {
  const market = name.slice(0, MAX_NAME_CHARS)
  const symbols = [...markets.keys()]
  const nearest = nearestMarket(symbols, market) ?? null
  const listed = `Listed are ${shortList(symbols)}: GET /v1/{chain}/markets has all.`
  const guess = nearest === null ? listed : `Did you mean ${nearest}?`
  const message = `There is no market ${JSON.stringify(market)} on this chain. ${guess} ${SPELLING}`
  const nearestPath = nearest?.replace('/', '-') ?? null
  return new ApiError('MARKET_NOT_FOUND', message, { market, nearest, nearestPath })
}

/**
 * Returns the market that a filter names, also one that is closed to new trades: what is left in it must be found.
 * Throws `MARKET_NOT_FOUND`.
 */
export function filteredMarket(
  { symbols, markets }: Pick<ChainMarkets, 'symbols' | 'markets'>,
  name: string,
): MarketSymbol {
  const market = [...symbols.values()].find((symbol) => symbol === name)
  if (market === undefined) throw marketNotFound(markets, name)
  return market
}

/** Ends of names in other places that say the quote, or only that it is a perpetual. */
const QUOTE_PATTERN = /(?!^)(?:USDT|USDC|USD|PERP)$/

/** Bases under other usual names, of which the most similar one would be a wrong guess. */
const ALIASES: ReadonlyMap<string, string> = new Map([['XBT', 'BTC']])

/**
 * Returns the market that a name was meant to be: the same letters and digits, or the same base (`BTC`, `BTCUSDT` or
 * `BTC-PERP` for `BTC/USD`), or the most similar base.
 */
export function nearestMarket(symbols: readonly string[], name: string): string | undefined {
  const letters = lettersOf(name)
  const same = symbols.find((symbol) => lettersOf(symbol) === letters)
  if (same !== undefined) return same
  const [first = ''] = name.toUpperCase().split(/[^A-Z0-9.]+/)
  const asked = first.replace(QUOTE_PATTERN, '')
  const base = nearestName(ALIASES.get(asked) ?? asked, symbols.map(baseOf))
  return base && symbols.find((symbol) => baseOf(symbol) === base)
}

function baseOf(symbol: string): string {
  return symbol.slice(0, symbol.indexOf('/'))
}

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}
