import { BaseSize, max, Price, type BookLevel as NativeLevel, type Decimal } from '@bezel/protocol'
import { MAX_BOOK_LEVELS, orderBook } from '../../market/orderBook.ts'
import { coinPrice, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed, roundTo } from '../priceText.ts'
import { quotedPair } from './assetCtx.ts'
import { coinRequest, MalformedInfoError, type CoinRequest, type InfoBody } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** Allowed values of `nSigFigs`, and of `mantissa`, which goes with five digits only. */
const SIGNIFICANT_DIGITS = [2, 3, 4, 5]
const MANTISSAS = [1, 2, 5]
const MANTISSA_DIGITS = 5

/** The precision of a book's prices. Default: the smallest price step of the market. */
export interface BookPrecision {
  /** Number of significant digits of a price. */
  readonly nSigFigs: number | null
  /** Step of the last digit: 1, 2 or 5. Default 1. */
  readonly mantissa: number | null
}

type L2BookRequest = CoinRequest & BookPrecision

interface L2Book {
  readonly coin: string
  readonly time: number
  readonly levels: readonly [bids: readonly BookLevel[], asks: readonly BookLevel[]]
}

interface BookLevel {
  readonly px: string
  readonly sz: string
  readonly n: number
}

/** A price of one coin and the size available at it, in coins. */
interface Level {
  readonly price: Price
  readonly size: BaseSize
}

type Side = 'bids' | 'asks'

/**
 * The book of a coin: that of the native API, in the coin's units and price steps. A closed market has none. `null` for
 * an unknown coin.
 */
export const l2Book = defineInfo<L2BookRequest, L2Book | null>({
  parse: (body, reads) => ({ ...coinRequest(body, reads), ...bookPrecision(body) }),
  answer: l2BookOf,
})

export function l2BookOf({ coin, ...precision }: L2BookRequest, reads: FacadeReads): L2Book | null {
  if (coin === undefined) return null
  const chain = reads.markets()
  const pair = quotedPair(reads, chain, coin)
  const quote = reads.quote(coin.pairIndex)
  if (pair === undefined || quote === undefined || !reads.isOpen(pair)) {
    return { coin: coin.name, time: quote?.updatedAtMs ?? reads.now(), levels: [[], []] }
  }
  const book = orderBook(chain, pair, quote, MAX_BOOK_LEVELS)
  const stepE10 = priceStep(coin, coinPrice(coin, quote.mark), precision)
  const levelsOf = (side: Side): BookLevel[] =>
    merged(book[side].map(coinLevel(coin)), side, stepE10).flatMap(levelText(coin))
  return { coin: coin.name, time: quote.updatedAtMs, levels: [levelsOf('bids'), levelsOf('asks')] }
}

/** Returns a function that converts a native level to the units of a coin. */
function coinLevel(coin: Coin) {
  return ({ price, size }: NativeLevel): Level => ({
    price: coinPrice(coin, Price.parseTruncated(price as Decimal)),
    size: BaseSize.of(BaseSize.parseTruncated(size as Decimal) / coin.units),
  })
}

/**
 * Rounds prices away from the mark, so that none looks better than it is, and joins the levels that end up on one
 * price.
 */
function merged(levels: readonly Level[], side: Side, step: bigint): Level[] {
  const sizes = new Map<Price, BaseSize>()
  for (const { price, size } of levels) {
    const at = roundTo(price, step, side === 'bids' ? 'down' : 'up')
    sizes.set(at, BaseSize.of((sizes.get(at) ?? 0n) + size))
  }
  return [...sizes].map(([price, size]) => ({ price, size }))
}

/**
 * Returns a function that writes a level. Sizes are truncated to the coin's size step, and a level that becomes empty
 * is dropped.
 */
function levelText({ szDecimals }: Coin) {
  const unit = 10n ** BigInt(BaseSize.decimals - szDecimals)
  return ({ price, size }: Level): BookLevel[] => {
    const traded = roundTo(size, unit, 'down')
    if (price === 0n || traded === 0n) return []
    const px = pointed(Price.format(price))
    return [{ px, sz: pointed(BaseSize.format(traded)), n: 1 }]
  }
}

/** Parses the precision of a book. Throws `MalformedInfoError`. */
export function bookPrecision(body: InfoBody): BookPrecision {
  const asked = { nSigFigs: body.nSigFigs ?? null, mantissa: body.mantissa ?? null }
  if (asked.nSigFigs === null && asked.mantissa === null) return { nSigFigs: null, mantissa: null }
  const nSigFigs = SIGNIFICANT_DIGITS.find((digits) => digits === asked.nSigFigs)
  const mantissa = asked.mantissa === null ? null : MANTISSAS.find((unit) => unit === asked.mantissa)
  const isMantissaFit = mantissa === null || nSigFigs === MANTISSA_DIGITS
  if (nSigFigs === undefined || mantissa === undefined || !isMantissaFit) throw new MalformedInfoError()
  return { nSigFigs, mantissa }
}

/** Returns the distance between two prices of a book near `price`, in the units of `Price`. */
function priceStep({ pxDecimals }: Coin, price: Price, { nSigFigs, mantissa }: BookPrecision): bigint {
  const smallest = 10n ** BigInt(Math.max(0, Price.decimals - pxDecimals))
  if (nSigFigs === null) return smallest
  const places = Math.max(0, price.toString().length - nSigFigs)
  return max(10n ** BigInt(places) * BigInt(mantissa ?? 1), smallest)
}
