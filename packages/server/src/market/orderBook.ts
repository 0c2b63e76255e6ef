import { bookOf, volumeOf, type ChainMarkets, type ListedPair, type PairQuote } from '../trading/market/chainMarkets.ts'
import { BaseSize, max, PercentP, Price, Usd, type BookLevel, type OrderBook } from '@bezel/protocol'
import { ORDINARY_TERMS, type DepthBook } from '../trading/valuation/chainState.ts'
import { usdOfCollateral } from '../trading/valuation/collateralAmounts.ts'
import { PPM_TO_P, WHOLE_BPS } from '../trading/valuation/depthBands.ts'
import { maxOpenInterestCollateral, openInterestUsd } from '../trading/valuation/openInterest.ts'
import { halfSpreadP, openVolumeImpactP, shiftPrice } from '../trading/valuation/priceImpact.ts'

/** The greatest number of levels: the Diamond keeps 30 bands for each side of a pair. */
export const MAX_BOOK_LEVELS = 30

export const DEFAULT_BOOK_LEVELS = 20

/** A depth band that adds depth to the one before it. */
interface Band {
  /** Distance from the best price at which the band begins. */
  readonly offsetP: PercentP
  /** Depth in USD between the best price and the band's end. */
  readonly cumulativeText: string
  /** Depth in USD that the band adds to the one before it. */
  readonly sizeUsd: Usd
  readonly sizeText: string
}

/** Bands at the same price. */
interface Level {
  readonly price: Price
  readonly bands: Band[]
}

/**
 * Returns the book of a pair, for every reader the same: the depth that the Diamond gives it around the mark, outside
 * the spread. It is computed, not made of resting orders. A level is a band of depth at the price where the band
 * begins, so that the best ask is what a small buy pays and the best bid what a small sell gets; only the skew, which
 * differs by collateral, comes on top. A pair whose price does not move with volume has one level on each side.
 */
export function orderBook(
  chain: ChainMarkets,
  pair: ListedPair,
  { mark, updatedAtMs }: Pick<PairQuote, 'mark' | 'updatedAtMs'>,
  levels: number,
): OrderBook {
  return {
    market: pair.symbol,
    markPrice: Price.format(mark),
    bids: bookSide(chain, pair, mark, false, levels),
    asks: bookSide(chain, pair, mark, true, levels),
    timestamp: updatedAtMs,
  }
}

/** Returns the best prices of the book. */
export function bestPrices(
  chain: ChainMarkets,
  pair: ListedPair,
  mark: Price,
): { readonly bid: Price; readonly ask: Price } {
  return { bid: bestPrice(chain, pair, mark, false), ask: bestPrice(chain, pair, mark, true) }
}

/** Returns the price before skew at which an order so small that it moves no price would be executed. */
function bestPrice(chain: ChainMarkets, pair: ListedPair, mark: Price, isBuy: boolean): Price {
  return priceAfter(mark, impactP(chain, pair, isBuy, Usd.of(1n)))
}

/** Returns the shift of the price for an order of a size, without skew; positive raises it. */
function impactP(chain: ChainMarkets, { pairIndex, listing }: ListedPair, isBuy: boolean, sizeUsd: Usd): PercentP {
  const market = { listing, volume: volumeOf(chain, pairIndex), terms: ORDINARY_TERMS }
  const spreadP = halfSpreadP(isBuy, listing, ORDINARY_TERMS)
  return PercentP.of(spreadP + openVolumeImpactP(isBuy, sizeUsd, market, chain.moment))
}

/** Returns a shifted price; at least 1, the smallest price. */
function priceAfter(mark: Price, shiftP: PercentP): Price {
  return max(shiftPrice(mark, shiftP), Price.of(1n))
}

/** Returns one side of the book, best price first. */
function bookSide(chain: ChainMarkets, pair: ListedPair, mark: Price, isBuy: boolean, levels: number): BookLevel[] {
  if (levels === 0) return []
  const { depthAbove, depthBelow, factors } = pair.listing
  const bands = factors.exemptOnOpen ? [] : bandsOf(isBuy ? depthAbove : depthBelow)
  const best = bestPrice(chain, pair, mark, isBuy)
  if (bands.length === 0) return [flatLevel(chain, pair, best, isBuy)]
  const startP = impactP(chain, pair, isBuy, Usd.zero)
  const priceOf = ({ offsetP }: Band): Price => priceAfter(mark, PercentP.of(startP + (isBuy ? offsetP : -offsetP)))
  return levelsOf(bands, best, priceOf, isBuy, levels).map(bookLevel)
}

/**
 * Groups bands into levels. The first band is at the best price; one that begins no further away than the level before
 * belongs to that level.
 */
function levelsOf(
  bands: readonly Band[],
  best: Price,
  priceOf: (band: Band) => Price,
  isBuy: boolean,
  levels: number,
): Level[] {
  const found: Level[] = []
  for (const band of bands) {
    const last = found.at(-1)
    const price = last === undefined ? best : priceOf(band)
    if (last !== undefined && (isBuy ? price <= last.price : price >= last.price)) last.bands.push(band)
    else if (found.length === levels) break
    else found.push({ price, bands: [band] })
  }
  return found
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
    size: sizeText(sizeUsd, price),
    sizeUsd: bands.length === 1 ? last.sizeText : Usd.format(sizeUsd),
    cumulativeUsd: last.cumulativeText,
  }
}

/** Returns the one level of a pair without depth: at the best price, all that may still be opened on that side. */
function flatLevel(chain: ChainMarkets, { pairIndex, listing }: ListedPair, price: Price, isBuy: boolean): BookLevel {
  const book = bookOf(chain, chain.defaultCollateralIndex, pairIndex)
  const { longUsd, shortUsd } = book ? openInterestUsd(book, price) : { longUsd: 0n, shortUsd: 0n }
  const mostUsd = book ? usdOfCollateral(maxOpenInterestCollateral(book), book.collateral) : 0n
  const leftUsd = Usd.of(max<bigint>(mostUsd - (isBuy ? longUsd : shortUsd), listing.minPositionSizeUsd))
  const text = Usd.format(leftUsd)
  return { price: Price.format(price), size: sizeText(leftUsd, price), sizeUsd: text, cumulativeUsd: text }
}

function sizeText(sizeUsd: Usd, price: Price): string {
  return BaseSize.format(BaseSize.of((sizeUsd * Price.one) / price))
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
      offsetP: PercentP.of((offsetsPpm[i - 1] ?? 0n) * PPM_TO_P),
      cumulativeText: Usd.format(cumulativeUsd),
      sizeUsd,
      sizeText: Usd.format(sizeUsd),
    })
    beforeUsd = cumulativeUsd
  }
  return bands
}
