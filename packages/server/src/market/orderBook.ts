import type { PairQuote } from '../trading/market/pairQuote.ts'
import { formatDecimal, type BookLevel, type OrderBook } from '@bezel/protocol'
import type { DepthBook } from '../trading/valuation/chainState.ts'
import { BAND_USD_ONE, PPM_TO_P, WHOLE_BPS } from '../trading/valuation/depthBands.ts'
import { P_10 } from '../trading/valuation/scales.ts'
import { shiftPrice } from '../trading/valuation/skewImpact.ts'
import type { ListedPair } from '../trading/market/chainMarkets.ts'

const PRICE_DECIMALS = 10
const USD_DECIMALS = 18
const SIZE_DECIMALS = 18

/** The Diamond keeps 30 bands for each side of a pair. */
export const MAX_BOOK_LEVELS = 30
export const DEFAULT_BOOK_LEVELS = 20

/** +1 above the mark, where buyers take; -1 below it, where sellers do. */
type Direction = 1n | -1n

/** A band that adds depth. */
interface Band {
  /** Of its end from the mark, 1e10 per percent. */
  readonly offsetP: bigint
  /** Between the mark and its end. */
  readonly cumulativeText: string
  /** What it adds to the band before, 1e18. */
  readonly sizeUsd: bigint
  readonly sizeText: string
}

/** Bands that end at one price (1e10). */
interface Level {
  readonly price: bigint
  readonly bands: Band[]
}

/** The depth that the Diamond gives a pair around the mark, as a book. Spread, skew and recent volume are not in it. */
export function orderBook(
  { symbol, listing }: Pick<ListedPair, 'symbol' | 'listing'>,
  { mark, updatedAtMs }: Pick<PairQuote, 'mark' | 'updatedAtMs'>,
  levels: number,
): OrderBook {
  return {
    market: symbol,
    markPrice: formatDecimal(mark, PRICE_DECIMALS),
    bids: bookSide(listing.depthBelow, mark, -1n, levels),
    asks: bookSide(listing.depthAbove, mark, 1n, levels),
    timestamp: updatedAtMs,
  }
}

/** Best first. */
function bookSide(depth: DepthBook, mark: bigint, direction: Direction, levels: number): BookLevel[] {
  return levelsOf(bandsOf(depth), mark, direction, levels).map(bookLevel)
}

/** Amounts in USD are exact; the size is cut after 18 decimals, so that size x price is never more than there is. */
function bookLevel({ price, bands }: Level): BookLevel {
  const sizeUsd = bands.reduce((sum, band) => sum + band.sizeUsd, 0n)
  const last = bands.at(-1)!
  return {
    price: formatDecimal(price, PRICE_DECIMALS),
    size: formatDecimal((sizeUsd * P_10) / price, SIZE_DECIMALS),
    sizeUsd: bands.length === 1 ? last.sizeText : formatDecimal(sizeUsd, USD_DECIMALS),
    cumulativeUsd: last.cumulativeText,
  }
}

/**
 * Prices strictly away from the mark, rounded toward it as the Diamond rounds. A band at the price of the one before is part of that level;
 * one at the mark itself is part of the first level beyond.
 */
function levelsOf(bands: readonly Band[], mark: bigint, direction: Direction, levels: number): Level[] {
  const found: Level[] = []
  let atMark: Band[] = []
  for (const band of bands) {
    const price = shiftPrice(mark, direction * band.offsetP)
    const last = found.at(-1)
    if ((price - (last?.price ?? mark)) * direction <= 0n) (last?.bands ?? atMark).push(band)
    else if (found.length === levels) break
    else {
      found.push({ price, bands: [...atMark, band] })
      atMark = []
    }
  }
  return found
}

/** The mark moves many times a second, the bands when the contracts' settings do. */
const known = new WeakMap<DepthBook, readonly Band[]>()

function bandsOf(depth: DepthBook): readonly Band[] {
  const made = known.get(depth) ?? decodeBands(depth)
  known.set(depth, made)
  return made
}

/** A band that adds no depth is left out, as the Diamond leaves it out. */
function decodeBands({ totalDepthUsd, sharesBps, offsetsPpm }: DepthBook): Band[] {
  const bands: Band[] = []
  let beforeUsd = 0n
  for (const [i, share] of sharesBps.entries()) {
    const cumulativeUsd = (share * totalDepthUsd * BAND_USD_ONE) / WHOLE_BPS
    if (cumulativeUsd <= beforeUsd) continue
    const sizeUsd = cumulativeUsd - beforeUsd
    bands.push({
      offsetP: (offsetsPpm[i] ?? 0n) * PPM_TO_P,
      cumulativeText: formatDecimal(cumulativeUsd, USD_DECIMALS),
      sizeUsd,
      sizeText: formatDecimal(sizeUsd, USD_DECIMALS),
    })
    beforeUsd = cumulativeUsd
  }
  return bands
}
