import { ApiError, HUNDRED_PERCENT, PercentP, Slippage, type Price } from '@bezel/protocol'
import type { PairQuote, ChainMarkets, ListedPair } from '../trading/market/chainMarkets.ts'
import type { FeedPulse } from './feed/feed.ts'
import type { PriceBook } from './feed/priceBook.ts'
import { notReady, type NotReadyReason } from '../ground/unavailable.ts'
import type { ChainMarketsWatch } from './watchChainMarkets.ts'

/**
 * Decides if the data in memory is fresh enough to answer with. Freshness is a matter of the feed as a whole: it sends
 * only the prices that change, so the silence of one pair means nothing by itself.
 */
export interface Freshness {
  /** Returns the reason to refuse a read of prices; `undefined` when it can be answered. */
  pricesReason(): NotReadyReason | undefined
  /** Returns the reason to refuse a read that needs the chain's state too. */
  marketsReason(): NotReadyReason | undefined
  /**
   * Returns the chain's markets once they are loaded, however old, and the feed was asked for its prices, so that no
   * older one is used for a moment. Throws `NOT_READY`.
   */
  loaded(): ChainMarkets
  /** Returns the last price of a market, however quiet the market is. Throws `NOT_READY` while the feed is stale. */
  quote(market: ListedPair): PairQuote
  /**
   * Returns the last price of a pair, however old it is and whatever the feed does, also from before the start;
   * `undefined` when there never was one. In a quiet market its mark is the price of the second witness, if there is
   * one. Throws `NOT_READY` while the chain lags.
   */
  lastQuote(pair: ListedPair, witness?: Witness): PairQuote | undefined
  /**
   * Returns the mark for what opens or enlarges a position. In a quiet market it is the price of the second witness,
   * which must be within the order's slippage of the last mark. Throws `NOT_READY`.
   */
  openingMark(market: ListedPair, witness: Witness | undefined): Price
}

/** A second source's word on the price of a pair, and how far it may be from the first. */
export interface Witness {
  readonly pairIndex: number
  /** `undefined` when the source was not asked or has no price. */
  readonly price: Price | undefined
  readonly slippage: Slippage
}

export interface FreshnessOptions {
  readonly watch: Pick<ChainMarketsWatch, 'current' | 'isLagging'>
  readonly book: Pick<PriceBook, 'get' | 'last'>
  /** Returns the feed's last signs of life; `undefined` until its first snapshot. */
  readonly pulse: () => FeedPulse | undefined
  /** Returns true once the feed has answered the request for its first snapshot, or has failed to. */
  readonly wasAsked: () => boolean
  /** Age from which a price needs a second witness before a position is opened at it. */
  readonly quietMs: number
  readonly now: () => number
}

/** The longest silence of a live connection: heartbeats come every second. */
export const HEARD_WITHIN_MS = 5_000

/** The longest time without a price of any pair, which proves that there is a feed behind the connection. */
export const PRICED_WITHIN_MS = 15_000

export function createFreshness({ watch, book, pulse, wasAsked, quietMs, now }: FreshnessOptions): Freshness {
  function pricesReason(): NotReadyReason | undefined {
    const signs = pulse()
    if (watch.current() === undefined || signs === undefined) return 'starting'
    const isFresh = now() - signs.heardAtMs <= HEARD_WITHIN_MS && now() - signs.pricedAtMs <= PRICED_WITHIN_MS
    return isFresh ? undefined : 'feed_stale'
  }

  function marketsReason(): NotReadyReason | undefined {
    return pricesReason() ?? (watch.isLagging() ? 'chain_lagging' : undefined)
  }

  function quote(market: ListedPair): PairQuote {
    const reason = marketsReason()
    if (reason !== undefined) throw notReady(reason)
    const known = book.get(market.pairIndex)
    if (known === undefined) throw priceIsMissing(market)
    return known
  }

  function isQuiet({ updatedAtMs }: PairQuote): boolean {
    return now() - updatedAtMs > quietMs
  }

  return {
    pricesReason,
    marketsReason,
    quote,
    loaded() {
      const chain = watch.current()
      if (chain === undefined || !wasAsked()) throw notReady('starting')
      return chain
    },
    lastQuote({ pairIndex }, witness) {
      if (watch.isLagging()) throw notReady('chain_lagging')
      const known = book.last(pairIndex)
      if (known === undefined || witness?.price === undefined || witness.pairIndex !== pairIndex) return known
      return isQuiet(known) ? { ...known, mark: witness.price } : known
    },
    openingMark(market, witness) {
      const known = quote(market)
      if (!isQuiet(known)) return known.mark
      if (witness?.price === undefined || witness.pairIndex !== market.pairIndex) throw priceIsOld(market)
      if (!isWithin(witness.slippage, known.mark, witness.price)) throw priceIsDoubted(market)
      return witness.price
    },
  }
}

/** True when a price is at most the slippage away from the mark, on either side. */
function isWithin(slippage: Slippage, mark: Price, price: Price): boolean {
  const distance = price > mark ? price - mark : mark - price
  return distance * HUNDRED_PERCENT <= mark * slippage * (PercentP.one / Slippage.one)
}

/** Returns the refusal of an action that needs a price of a market which has none. */
export function priceIsMissing(market: ListedPair): ApiError {
  return marketNotReady(market, 'The price feed has no price of this market yet; try again in a moment.')
}

function priceIsOld(market: ListedPair): ApiError {
  return marketNotReady(
    market,
    'The last price of this market is old and its chart can not be read, so nothing is opened at it; try again in a moment.',
  )
}

function priceIsDoubted(market: ListedPair): ApiError {
  return marketNotReady(
    market,
    'The last price of this market is old and its chart says another one, further away than the slippage; try again in a moment.',
  )
}

function marketNotReady({ symbol }: ListedPair, sentence: string): ApiError {
  return new ApiError('NOT_READY', sentence, { reason: 'feed_stale', market: symbol })
}
