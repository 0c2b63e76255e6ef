import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import { bookOf, type ChainMarkets, type ListedPair } from '../../trading/market/chainMarkets.ts'
import { MAX_BOOK_LEVELS, orderBook } from '../../market/orderBook.ts'
import { usdOfCollateral } from '../../trading/valuation/collateralAmounts.ts'
import { maxOpenInterestCollateral, openInterestUsd } from '../../trading/valuation/openInterest.ts'
import { larger, P_10 } from '../../trading/valuation/scales.ts'
import { coinPrice, coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed, roundTo } from '../priceText.ts'
import { quotedPair } from './assetCtx.ts'
import { bestPrices } from './bestPrices.ts'
import { priceStep } from './priceStep.ts'
import { coinNameOf, type InfoRequest } from './infoRequest.ts'

const PRICE_DECIMALS = 10
const SIZE_DECIMALS = 18

/** A price of one coin (1e10) and what there is at it, in coins (1e18). */
interface Level {
  readonly price: bigint
  readonly size: bigint
}

type Side = 'bids' | 'asks'

/**
 * The depth that the contracts give a pair, around the mark and beyond its spread, best first. Nobody rests there. A closed market has none.
 * `null` for an unknown coin.
 */
export function l2Book(request: InfoRequest, reads: FacadeReads): unknown {
  const chain = reads.markets()
  const coin = coinsOf(chain).named(coinNameOf(request))
  const step = priceStep(request)
  if (coin === undefined) return null
  const pair = quotedPair(reads, chain, coin)
  const quote = reads.quote(coin.pairIndex)
  if (pair === undefined || quote === undefined || !reads.isOpen(pair)) {
    return { coin: coin.name, time: quote?.updatedAtMs ?? reads.now(), levels: [[], []] }
  }
  const stepE10 = step(coin, coinPrice(coin, quote.mark))
  const levelsOf = (side: Side) =>
    merged(sideLevels(chain, coin, pair, quote.mark, side), side, stepE10).flatMap(levelText(coin))
  return { coin: coin.name, time: quote.updatedAtMs, levels: [levelsOf('bids'), levelsOf('asks')] }
}

function sideLevels(chain: ChainMarkets, coin: Coin, pair: ListedPair, mark: bigint, side: Side): Level[] {
  const { bid, ask } = bestPrices(pair, mark)
  const best = side === 'bids' ? bid : ask
  const levels = orderBook(pair, { mark: best, updatedAtMs: 0 }, MAX_BOOK_LEVELS)[side].map(({ price, size }) => ({
    price: coinPrice(coin, scaled(price, PRICE_DECIMALS)),
    size: scaled(size, SIZE_DECIMALS) / coin.units,
  }))
  return levels.length > 0 ? levels : [flatLevel(chain, coin, pair, best, side)]
}

/** Of a pair whose price does not move with volume: all that may be opened is there at the best price. */
function flatLevel(
  chain: ChainMarkets,
  coin: Coin,
  { pairIndex, listing }: ListedPair,
  price: bigint,
  side: Side,
): Level {
  const book = bookOf(chain, chain.defaultCollateralIndex, pairIndex)
  const { longUsd, shortUsd } = book ? openInterestUsd(book, price) : { longUsd: 0n, shortUsd: 0n }
  const mostUsd = book ? usdOfCollateral(maxOpenInterestCollateral(book), book.collateral) : 0n
  const leftUsd = larger(mostUsd - (side === 'asks' ? longUsd : shortUsd), listing.minPositionSizeUsd)
  return { price: coinPrice(coin, price), size: (leftUsd * P_10) / coinPrice(coin, price) }
}

/** Rounded away from the mark, so that nothing looks better than it is; what falls on one price is one level. */
function merged(levels: readonly Level[], side: Side, step: bigint): Level[] {
  const sizes = new Map<bigint, bigint>()
  for (const { price, size } of levels) {
    const at = roundTo(price, step, side === 'bids' ? 'down' : 'up')
    sizes.set(at, (sizes.get(at) ?? 0n) + size)
  }
  return [...sizes].map(([price, size]) => ({ price, size }))
}

/** Sizes are cut to what the coin is traded in; where nothing is left there is no level. */
function levelText({ szDecimals }: Coin) {
  const unit = 10n ** BigInt(SIZE_DECIMALS - szDecimals)
  return ({ price, size }: Level) => {
    const traded = roundTo(size, unit, 'down')
    if (price === 0n || traded === 0n) return []
    const px = pointed(formatDecimal(price, PRICE_DECIMALS))
    return [{ px, sz: pointed(formatDecimal(traded, SIZE_DECIMALS)), n: 1 }]
  }
}

function scaled(text: string, decimals: number): bigint {
  return scaleDecimalTruncated(text as Decimal, decimals)
}
