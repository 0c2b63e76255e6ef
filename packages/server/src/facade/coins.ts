import { formatDecimal, scaleDecimalTruncated, type Decimal, type MarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedPair } from '../trading/market/chainMarkets.ts'
import { precisionOf, type Precision } from '../trading/market/precision.ts'
import { ONE_E3 } from '../trading/valuation/scales.ts'

/** A pair as the facade names it. Its asset id is its place in the universe, which is the pair's index. */
export interface Coin {
  readonly name: string
  readonly pairIndex: number
  /** `undefined` of a place without a pair that could be named. */
  readonly symbol: MarketSymbol | undefined
  /** Base units in one coin: 1,000 for those that cost next to nothing, else 1. */
  readonly units: bigint
  readonly szDecimals: number
  /** Places of a price that the market takes, at least one. */
  readonly pxDecimals: number
  /** A whole number. */
  readonly maxLeverage: number
  /** Not to be traded; positions may still be open in it. */
  readonly isDelisted: boolean
}

/** The coins of one chain. */
export interface Coins {
  /** By asset id, without a hole. */
  readonly universe: readonly Coin[]
  /** As written, or in any case: no two names differ by case alone. */
  named(name: string): Coin | undefined
}

const PRICE_DECIMALS = 10
const SIZE_DECIMALS = 18
/** Below 0.001 USD (1e10) a coin is 1,000 units. Judged by the reference price, which never changes, so that neither does the name. */
const KILO_BELOW = 10n ** 7n
const KILO_UNITS = 1_000n
const KILO_DIGITS = 3
/** Clients allow a price 6 - szDecimals places, so there must not be more. */
const MAX_SZ_DECIMALS = 6
/** Places that every client can write. */
const MAX_SHOWN_DECIMALS = 8
/** Of a place that nothing is known of. */
const UNKNOWN_PRECISION: Precision = { pricePrecision: 2, sizePrecision: 2 }

const known = new WeakMap<ChainMarkets, Coins>()

/** Made once for each reading of the markets. */
export function coinsOf(chain: ChainMarkets): Coins {
  const made = known.get(chain) ?? makeCoins(chain)
  known.set(chain, made)
  return made
}

function makeCoins(chain: ChainMarkets): Coins {
  const names = nameAll(chain)
  const universe = Array.from({ length: universeLength(chain) }, (_, pairIndex) =>
    coinAt(chain, pairIndex, names.get(pairIndex)!),
  )
  const byName = new Map(universe.map((coin) => [coin.name, coin]))
  const byUpperName = new Map(universe.map((coin) => [coin.name.toUpperCase(), coin]))
  return { universe, named: (name) => byName.get(name) ?? byUpperName.get(name.toUpperCase()) }
}

function universeLength({ pairs, symbols }: ChainMarkets): number {
  return Math.max(-1, ...pairs.keys(), ...symbols.keys()) + 1
}

/** What can be traded is named first, so that a closed pair of the same name gives way to it. */
function nameAll(chain: ChainMarkets): ReadonlyMap<number, string> {
  const traded = new Set([...chain.markets.values()].map(({ pairIndex }) => pairIndex))
  const all = Array.from({ length: universeLength(chain) }, (_, pairIndex) => pairIndex)
  const names = new Map<number, string>()
  const taken = new Set<string>()
  for (const pairIndex of [...traded, ...all.filter((index) => !traded.has(index))]) {
    const name = freeName(wantedName(chain, pairIndex), pairIndex, taken)
    taken.add(name.toUpperCase())
    names.set(pairIndex, name)
  }
  return names
}

/** With the index behind it where the name alone is taken: clients know a coin by its name, most of them in upper case. */
function freeName(wanted: string, pairIndex: number, taken: ReadonlySet<string>): string {
  let name = wanted
  while (taken.has(name.toUpperCase())) name = `${name}_${pairIndex}`
  return name
}

/** The base where the quote is USD, else both: `BTC`, `USDJPY`, `kPEPE`. Clients give `/`, `@` and `:` meanings of their own. */
function wantedName(chain: ChainMarkets, pairIndex: number): string {
  const [base = `PAIR_${pairIndex}`, quote = 'USD'] = chain.symbols.get(pairIndex)?.split('/') ?? []
  return `${isKilo(chain, pairIndex) ? 'k' : ''}${base}${quote === 'USD' ? '' : quote}`
}

function isKilo({ referencePrices }: ChainMarkets, pairIndex: number): boolean {
  const price = referencePrices.get(pairIndex)
  return price !== undefined && price < KILO_BELOW
}

function coinAt(chain: ChainMarkets, pairIndex: number, name: string): Coin {
  const symbol = chain.symbols.get(pairIndex)
  const market = symbol === undefined ? undefined : chain.markets.get(symbol)
  const isDelisted = market?.pairIndex !== pairIndex
  const kilo = isKilo(chain, pairIndex)
  const { pricePrecision, sizePrecision } = isDelisted ? precisionAt(chain, pairIndex) : market
  return {
    name,
    pairIndex,
    symbol,
    units: kilo ? KILO_UNITS : 1n,
    szDecimals: Math.min(sizePrecision, MAX_SZ_DECIMALS),
    pxDecimals: Math.max(1, pricePrecision - (kilo ? KILO_DIGITS : 0)),
    maxLeverage: wholeLeverage(chain.pairs.get(pairIndex)),
    isDelisted,
  }
}

function precisionAt({ referencePrices }: ChainMarkets, pairIndex: number): Precision {
  const price = referencePrices.get(pairIndex)
  return price === undefined ? UNKNOWN_PRECISION : precisionOf(price)
}

function wholeLeverage(pair: ListedPair | undefined): number {
  return Math.max(1, Number((pair?.maxLeverage ?? 0n) / ONE_E3))
}

/** A price (1e10) of one unit as the price of one coin, 1e10. */
export function coinPrice({ units }: Coin, price: bigint): bigint {
  return price * units
}

/** A price (1e10) of one unit as text: the price of one coin. */
export function pxOf(coin: Coin, price: bigint): Decimal {
  return formatDecimal(coinPrice(coin, price), PRICE_DECIMALS)
}

/** Base units (1e18, signed) as text: so many coins, in steps of the coin. */
export function szOf(coin: Coin, size: bigint): Decimal {
  return wholeSz(coin, shownSize(coin, size))
}

/** The same with all places. */
export function wholeSz({ units }: Coin, size: bigint): Decimal {
  return formatDecimal(size, SIZE_DECIMALS + (units === 1n ? 0 : KILO_DIGITS))
}

/** The smallest size of a coin that clients can name, in base units (1e18). */
export function sizeStep(coin: Coin): bigint {
  return stepOf(coin, coin.szDecimals)
}

/**
 * What clients are shown of a size (1e18, signed), cut off towards zero: they order with the sizes they were told, and some fail at more places.
 * What is there is never shown as nothing: of less than a step there are as many places as any client takes.
 */
export function shownSize(coin: Coin, size: bigint): bigint {
  const cut = size - (size % sizeStep(coin))
  if (cut !== 0n || size === 0n) return cut
  const least = stepOf(coin, MAX_SHOWN_DECIMALS)
  const fine = size - (size % least)
  if (fine !== 0n) return fine
  return size < 0n ? -least : least
}

function stepOf({ units }: Coin, decimals: number): bigint {
  return 10n ** BigInt(SIZE_DECIMALS - decimals) * units
}

/** A native price as text. */
export function pxText(coin: Coin, price: Decimal): Decimal {
  return pxOf(coin, scaleDecimalTruncated(price, PRICE_DECIMALS))
}

/** A native size as text. */
export function szText(coin: Coin, size: Decimal): Decimal {
  return szOf(coin, scaleDecimalTruncated(size, SIZE_DECIMALS))
}

/** The way back: a coin's price as the native interface counts it. Places beyond those of the chain stay, for it to refuse. */
export function nativePrice(coin: Coin, px: Decimal): Decimal {
  return coin.units === 1n ? px : shifted(px, -KILO_DIGITS)
}

/** The way back: a number of coins in base units. */
export function nativeSize(coin: Coin, sz: Decimal): Decimal {
  return coin.units === 1n ? sz : shifted(sz, KILO_DIGITS)
}

/** Enough for any text that is taken from outside. */
const SHIFT_DECIMALS = 40

function shifted(value: Decimal, digits: number): Decimal {
  return formatDecimal(scaleDecimalTruncated(value, SHIFT_DECIMALS), SHIFT_DECIMALS - digits)
}
