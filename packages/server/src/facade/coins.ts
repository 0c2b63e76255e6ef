import {
  BaseSize,
  formatDecimal,
  Leverage,
  MAX_DECIMAL_CHARS,
  Price,
  scaleDecimalTruncated,
  type Decimal,
  type MarketSymbol,
} from '@bezel/protocol'
import { type ChainMarkets, type ListedPair, precisionOf, type Precision } from '../trading/market/chainMarkets.ts'

/** Leverage of a trader who never chose one, in markets that allow it. */
const DEFAULT_LEVERAGE = 10

/** A pair under its name in the facade. Its asset id is its place in the universe, which is the pair's index. */
export interface Coin {
  readonly name: string
  readonly pairIndex: number
  /** `undefined` at an index without a known pair. */
  readonly symbol: MarketSymbol | undefined
  /** Base units in one coin: 1,000 for pairs that cost less than 0.001 USD, otherwise 1. */
  readonly units: bigint
  readonly szDecimals: number
  /** Decimal places of a price in this market, at least one. */
  readonly pxDecimals: number
  /** Largest leverage, truncated to a whole number. */
  readonly maxLeverage: number
  /** True when the coin can't be traded. Positions in it may still be open. */
  readonly isDelisted: boolean
}

/** The coins of one chain. */
interface Coins {
  /** Coins by asset id, without gaps. */
  readonly universe: readonly Coin[]
  /** Finds a coin by its exact name, or else in any letter case. No two names differ by case alone. */
  named(name: string): Coin | undefined
}

/**
 * Reference price below which a coin is 1,000 units. The reference price never changes, so the name does not either.
 */
const KILO_BELOW = Price.of(Price.one / 1_000n)

const KILO_UNITS = 1_000n

const KILO_DIGITS = 3

/** Largest number of size decimals. Clients allow a price 6 - szDecimals decimals, which must not be negative. */
const MAX_SZ_PLACES = 6

/** Decimal places that every client can write. */
const MAX_SHOWN_PLACES = 8

/** Precision at an index without a known pair. */
const UNKNOWN_PRECISION: Precision = { pricePrecision: 2, sizePrecision: 2 }

const known = new WeakMap<ChainMarkets, Coins>()

/** Returns the coins of a chain, made once for each reading of its markets. */
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

/** Names all pairs. Tradable ones come first, so that a closed pair of the same name gets the suffix. */
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

/** Appends the pair index while the name is taken. Clients identify a coin by its name, most of them in upper case. */
function freeName(wanted: string, pairIndex: number, taken: ReadonlySet<string>): string {
  let name = wanted
  while (taken.has(name.toUpperCase())) name = `${name}_${pairIndex}`
  return name
}

/**
 * Returns the base where the quote is USD, and otherwise both: `BTC`, `USDJPY`, `kPEPE`. The characters `/`, `@` and
 * `:` are avoided, because clients give them meanings of their own.
 */
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
    szDecimals: Math.min(sizePrecision, MAX_SZ_PLACES),
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
  return Math.max(1, Number((pair?.maxLeverage ?? 0n) / Leverage.one))
}

/** Converts the price of one base unit to the price of one coin. */
export function coinPrice({ units }: Coin, price: Price): Price {
  return Price.of(price * units)
}

/** Writes the price of one base unit as the price of one coin. */
function pxOf(coin: Coin, price: Price): Decimal {
  return Price.format(coinPrice(coin, price))
}

/** Writes a signed size as a number of coins, in steps of the coin. */
export function szOf(coin: Coin, size: BaseSize): Decimal {
  return wholeSz(coin, shownSize(coin, size))
}

/** Writes a signed size as a number of coins, with all decimals. */
export function wholeSz({ units }: Coin, size: BaseSize): Decimal {
  return formatDecimal(size, BaseSize.decimals + (units === 1n ? 0 : KILO_DIGITS))
}

/** Returns the smallest size of a coin that clients can order. */
export function sizeStep(coin: Coin): BaseSize {
  return stepOf(coin, coin.szDecimals)
}

/**
 * Rounds a signed size to the nearest step of the coin, because clients order with the sizes they were shown and some
 * fail at more decimals. A size that would be shown as zero is shown with up to 8 decimals, and never as zero.
 */
export function shownSize(coin: Coin, size: BaseSize): BaseSize {
  const shown = nearest(size, sizeStep(coin))
  if (shown !== 0n || size === 0n) return shown
  const least = stepOf(coin, MAX_SHOWN_PLACES)
  const fine = nearest(size, least)
  if (fine !== 0n) return fine
  return BaseSize.of(size < 0n ? -least : least)
}

/** Rounds to the nearest multiple of a step; a tie goes away from zero. */
function nearest(size: BaseSize, step: bigint): BaseSize {
  const half = size < 0n ? -step / 2n : step / 2n
  return BaseSize.of(((size + half) / step) * step)
}

function stepOf({ units }: Coin, decimals: number): BaseSize {
  return BaseSize.of(10n ** BigInt(BaseSize.decimals - decimals) * units)
}

/** Writes a native price as the price of one coin. */
export function pxText(coin: Coin, price: Decimal): Decimal {
  return pxOf(coin, Price.parseTruncated(price))
}

/** Writes a native size as a number of coins. */
export function szText(coin: Coin, size: Decimal): Decimal {
  return szOf(coin, BaseSize.parseTruncated(size))
}

/**
 * Converts the price of one coin back to a native price. Decimals beyond those of the chain are kept, so that the
 * native check refuses them.
 */
export function nativePrice(coin: Coin, px: Decimal): Decimal {
  return coin.units === 1n ? px : shifted(px, -KILO_DIGITS)
}

/** Converts a number of coins back to base units. */
export function nativeSize(coin: Coin, sz: Decimal): Decimal {
  return coin.units === 1n ? sz : shifted(sz, KILO_DIGITS)
}

function shifted(value: Decimal, digits: number): Decimal {
  return formatDecimal(scaleDecimalTruncated(value, MAX_DECIMAL_CHARS), MAX_DECIMAL_CHARS - digits)
}

/** Returns the leverage for orders of a trader who never chose one: a whole number within the market's range. */
export function defaultLeverage(market: Pick<ListedPair, 'minLeverage' | 'maxLeverage'>): number {
  const least = Number((market.minLeverage + Leverage.one - 1n) / Leverage.one)
  const most = Number(market.maxLeverage / Leverage.one)
  return Math.max(1, Math.min(Math.max(DEFAULT_LEVERAGE, least), most))
}
