import type { PairQuote } from '../../trading/market/pairQuote.ts'
import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import type { ChainMarkets, ListedPair } from '../../trading/market/chainMarkets.ts'
import { fundingRecord } from '../../trading/market/marketRecord.ts'
import { P_10 } from '../../trading/valuation/scales.ts'
import { coinsOf, szOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed, steppedPx } from '../priceText.ts'
import { bestPrices } from './bestPrices.ts'

const USD_DECIMALS = 18
const PRICE_DECIMALS = 10
/** Of a rate as a fraction: percent at 1e18 is a fraction at 1e20. */
const PERCENT_DECIMALS = 18
const FRACTION_DECIMALS = 20

/** What a market is doing, as clients show it. */
export interface AssetCtx {
  readonly funding: string
  readonly openInterest: string
  readonly prevDayPx: string
  readonly dayNtlVlm: string
  readonly premium: string | null
  readonly oraclePx: string
  readonly markPx: string
  readonly midPx: string | null
  readonly impactPxs: readonly [bid: string, ask: string] | null
  readonly dayBaseVlm: string
}

/** Of a pair without a price. The mark has a point all the same: a client splits it there. */
const NOTHING: AssetCtx = {
  funding: '0.0',
  openInterest: '0.0',
  prevDayPx: '0.0',
  dayNtlVlm: '0.0',
  premium: null,
  oraclePx: '0.0',
  markPx: '0.0',
  midPx: null,
  impactPxs: null,
  dayBaseVlm: '0.0',
}

/** Of one coin, at its last price. */
export function assetCtx(reads: FacadeReads, chain: ChainMarkets, coin: Coin): AssetCtx {
  const pair = chain.pairs.get(coin.pairIndex)
  const quote = reads.quote(coin.pairIndex)
  if (pair === undefined || quote === undefined) return NOTHING
  const markPx = steppedPx(coin, quote.mark)
  const { bid, ask } = bestPrices(pair, quote.mark)
  return {
    ...interestOf(chain, coin, quote),
    prevDayPx: dayOpenPx(reads, coin) ?? markPx,
    // What is traded elsewhere is not known, and a part of it would look like all.
    dayNtlVlm: '0.0',
    dayBaseVlm: '0.0',
    premium: premiumOf(quote),
    oraclePx: steppedPx(coin, quote.index),
    markPx,
    midPx: markPx,
    impactPxs: [steppedPx(coin, bid, 'down'), steppedPx(coin, ask, 'up')],
  }
}

/** One rate has room, so it is that of longs. Open interest is that of both sides, in coins. */
function interestOf(chain: ChainMarkets, coin: Coin, { mark }: PairQuote): Pick<AssetCtx, 'funding' | 'openInterest'> {
  const { fundingRateLongHourly, openInterestLongUsd, openInterestShortUsd } = fundingRecord(
    chain,
    coin.pairIndex,
    mark,
  )
  const usd = scaled(openInterestLongUsd, USD_DECIMALS) + scaled(openInterestShortUsd, USD_DECIMALS)
  return {
    funding: pointed(formatDecimal(scaled(fundingRateLongHourly, PERCENT_DECIMALS), FRACTION_DECIMALS)),
    openInterest: pointed(szOf(coin, (usd * P_10) / mark)),
  }
}

function premiumOf({ mark, index }: PairQuote): string {
  return pointed(formatDecimal(((mark - index) * P_10) / index, PRICE_DECIMALS))
}

/** The price at midnight UTC. */
function dayOpenPx({ candles }: FacadeReads, coin: Coin): string | undefined {
  const day = candles.current(coin.pairIndex, '1d')
  return day && steppedPx(coin, scaled(day.open, PRICE_DECIMALS))
}

function scaled(text: string, decimals: number): bigint {
  return scaleDecimalTruncated(text as Decimal, decimals)
}

/** JSON of one coin's, and what it was made from. */
interface KnownText {
  readonly chain: ChainMarkets
  readonly quote: PairQuote | undefined
  readonly text: string
}

const known = new WeakMap<FacadeReads, Map<number, KnownText>>()

/** JSON of all, by asset id. At a tick most prices stay, and so does what was made from them. */
export function assetCtxTexts(reads: FacadeReads): string[] {
  const chain = reads.markets()
  const texts = known.get(reads) ?? new Map<number, KnownText>()
  known.set(reads, texts)
  return coinsOf(chain).universe.map((coin) => {
    const quote = reads.quote(coin.pairIndex)
    const before = texts.get(coin.pairIndex)
    if (before?.chain === chain && before.quote === quote) return before.text
    const text = JSON.stringify(assetCtx(reads, chain, coin))
    texts.set(coin.pairIndex, { chain, quote, text })
    return text
  })
}

/** A pair that has a price, so that a position in it can be closed even when nothing new can be opened. */
export function quotedPair(reads: FacadeReads, chain: ChainMarkets, coin: Coin): ListedPair | undefined {
  return reads.quote(coin.pairIndex) === undefined ? undefined : chain.pairs.get(coin.pairIndex)
}
