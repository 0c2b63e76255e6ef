import type { PairQuote, ListedPair } from '../trading/market/chainMarkets.ts'
import { BaseSize, PercentP, Price, Usd, type BookLevel, type OrderBook } from '@bezel/protocol'
import type { DepthBook } from '../trading/valuation/chainState.ts'
import { PPM_TO_P, WHOLE_BPS } from '../trading/valuation/depthBands.ts'
import { shiftPrice } from '../trading/valuation/priceImpact.ts'

/** The greatest number of levels: the Diamond keeps 30 bands for each side of a pair. */
export const MAX_BOOK_LEVELS = 30

export const DEFAULT_BOOK_LEVELS = 20

/** Side of the book: +1 above the mark, where buyers take; -1 below it, where sellers take. */
type Direction = 1n | -1n

/** A depth band that adds depth to the one before it. */
interface Band {
  /** Distance of the band's end from the mark. */
  readonly offsetP: PercentP
  /** Depth in USD between the mark and the band's end. */
  readonly cumulativeText: string
  /** Depth in USD that the band adds to the one before it. */
  readonly sizeUsd: Usd
  readonly sizeText: string
}

/** Bands that end at the same price. */
interface Level {
  readonly price: Price
  readonly bands: Band[]
}

/**
 * Returns the depth that the Diamond gives a pair around the mark as an order book. Spread, skew and recent volume are
 * not included.
 */
export function orderBook(
  { symbol, listing }: Pick<ListedPair, 'symbol' | 'listing'>,
  { mark, updatedAtMs }: Pick<PairQuote, 'mark' | 'updatedAtMs'>,
  levels: number,
): OrderBook {
  return {
    market: symbol,
    markPrice: Price.format(mark),
    bids: bookSide(listing.depthBelow, mark, -1n, levels),
    asks: bookSide(listing.depthAbove, mark, 1n, levels),
    timestamp: updatedAtMs,
  }
}

/** Returns one side of the book, best price first. */
function bookSide(depth: DepthBook, mark: Price, direction: Direction, levels: number): BookLevel[] {
  return levelsOf(bandsOf(depth), mark, direction, levels).map(bookLevel)
}

/**
 * Returns a level. Amounts in USD are exact; the size is truncated to 18 decimals, so that size x price never exceeds
 * the depth.
 */
function bookLevel({ price, bands }: Level): BookLevel {
  const sizeUsd = Usd.of(bands.reduce((sum, band) => sum + band.sizeUsd, 0n))
  const last = bands.at(-1)!
  return {
    price: Price.format(price),
    size: BaseSize.format(BaseSize.of((sizeUsd * Price.one) / price)),
    sizeUsd: bands.length === 1 ? last.sizeText : Usd.format(sizeUsd),
    cumulativeUsd: last.cumulativeText,
  }
}

/**
 * Groups bands into levels. Prices are strictly away from the mark, and rounded toward it as the Diamond rounds. A band
 * at the price of the one before belongs to that level; one at the mark itself belongs to the first level beyond it.
 */
function levelsOf(bands: readonly Band[], mark: Price, direction: Direction, levels: number): Level[] {
  const found: Level[] = []
  let atMark: Band[] = []
  for (const band of bands) {
    const price = shiftPrice(mark, PercentP.of(direction * band.offsetP))
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

/** Cache of decoded bands: the mark moves many times a second, the bands only when the contracts' settings change. */
const known = new WeakMap<DepthBook, readonly Band[]>()

function bandsOf(depth: DepthBook): readonly Band[] {
  const made = known.get(depth) ?? decodeBands(depth)
  known.set(depth, made)
  return made
}

/** Decodes the bands, and leaves out those that add no depth, as the Diamond does. */
function decodeBands({ totalDepthUsd, sharesBps, offsetsPpm }: DepthBook): Band[] {
  const bands: Band[] = []
  let beforeUsd = 0n
  for (const [i, share] of sharesBps.entries()) {
    const cumulativeUsd = Usd.of((share * totalDepthUsd * Usd.one) / WHOLE_BPS)
    if (cumulativeUsd <= beforeUsd) continue
    const sizeUsd = Usd.of(cumulativeUsd - beforeUsd)
    bands.push({
      offsetP: PercentP.of((offsetsPpm[i] ?? 0n) * PPM_TO_P),
      cumulativeText: Usd.format(cumulativeUsd),
      sizeUsd,
      sizeText: Usd.format(sizeUsd),
    })
    beforeUsd = cumulativeUsd
  }
  return bands
}
