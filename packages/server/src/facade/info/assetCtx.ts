import { BaseSize, FundingFraction, FundingRateP, Price, Ratio, Usd, type Decimal } from '@bezel/protocol'
import type { PairQuote, ChainMarkets, ListedPair } from '../../trading/market/chainMarkets.ts'
import { bestPrices } from '../../market/orderBook.ts'
import { fundingRecord } from '../../trading/market/marketRecord.ts'
import { coinsOf, szOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed, steppedPx } from '../priceText.ts'
import { noFields } from './infoRequest.ts'
import { defineInfo, remembered } from './infoType.ts'
import { metaOf, NO_META, type Meta } from './meta.ts'

/** The state of a market in the shape that clients display. */
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

/**
 * The context of a pair without a price. `markPx` has a decimal point all the same, because a client splits it there.
 */
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

/** Returns the context of one coin at its last price. */
export function assetCtx(reads: FacadeReads, chain: ChainMarkets, coin: Coin): AssetCtx {
  const pair = chain.pairs.get(coin.pairIndex)
  const quote = reads.quote(coin.pairIndex)
  if (pair === undefined || quote === undefined) return NOTHING
  const markPx = steppedPx(coin, quote.mark)
  const { bid, ask } = bestPrices(chain, pair, quote.mark)
  return {
    ...interestOf(chain, coin, quote),
    prevDayPx: dayOpenPx(reads, coin) ?? markPx,
    // Zero, because volume traded outside this service is not known, and a part of it would pass for the whole.
    dayNtlVlm: '0.0',
    dayBaseVlm: '0.0',
    premium: premiumOf(quote),
    oraclePx: steppedPx(coin, quote.index),
    markPx,
    midPx: markPx,
    impactPxs: [steppedPx(coin, bid, 'down'), steppedPx(coin, ask, 'up')],
  }
}

/**
 * Returns the funding rate of longs, because the shape has room for one rate only, and the open interest of both sides
 * together, in coins.
 */
function interestOf(chain: ChainMarkets, coin: Coin, { mark }: PairQuote): Pick<AssetCtx, 'funding' | 'openInterest'> {
  const { fundingRateLongHourly, openInterestLongUsd, openInterestShortUsd } = fundingRecord(
    chain,
    coin.pairIndex,
    mark,
  )
  const usd = Usd.parseTruncated(openInterestLongUsd as Decimal) + Usd.parseTruncated(openInterestShortUsd as Decimal)
  return {
    funding: pointed(
      FundingFraction.format(FundingFraction.of(FundingRateP.parseTruncated(fundingRateLongHourly as Decimal))),
    ),
    openInterest: pointed(szOf(coin, BaseSize.of((usd * Price.one) / mark))),
  }
}

function premiumOf({ mark, index }: PairQuote): string {
  return pointed(Ratio.format(Ratio.of(((mark - index) * Ratio.one) / index)))
}

/** Returns the price at midnight UTC: the open of the current daily candle. */
function dayOpenPx({ candles }: FacadeReads, coin: Coin): string | undefined {
  const day = candles.current(coin.pairIndex, '1d')
  return day && steppedPx(coin, Price.parseTruncated(day.open as Decimal))
}

/** The JSON of one coin's context, with the inputs it was made from. */
interface KnownText {
  readonly chain: ChainMarkets
  readonly quote: PairQuote | undefined
  readonly text: string
}

const known = new WeakMap<FacadeReads, Map<number, KnownText>>()

/**
 * Returns the JSON of all contexts, by asset id. Most prices stay the same at a tick, and their JSON is then reused.
 */
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

/**
 * Returns the pair of a coin that has a price. Closed pairs count too, because positions in them can still be closed.
 */
export function quotedPair(reads: FacadeReads, chain: ChainMarkets, coin: Coin): ListedPair | undefined {
  return reads.quote(coin.pairIndex) === undefined ? undefined : chain.pairs.get(coin.pairIndex)
}

/** The meta, and the contexts in the order of its universe. */
type MetaAndAssetCtxs = readonly [meta: Meta, assetCtxs: readonly AssetCtx[]]

const rememberedBoth = remembered<MetaAndAssetCtxs>(
  (reads) => `${reads.marketsVersion()} ${reads.priceVersion()}`,
  (reads) => `[${metaOf(reads).text},[${assetCtxTexts(reads).join(',')}]]`,
)

/** The markets that can be traded, and the state of each. */
export const metaAndAssetCtxs = defineInfo<void, MetaAndAssetCtxs>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedBoth(reads)
  },
  inOtherDex: () => [NO_META, []],
})

interface PredictedFunding {
  readonly fundingRate: string
  /** Epoch ms. */
  readonly nextFundingTime: number
  readonly fundingIntervalHours: number
}

/** The predicted rate of each coin at each venue. */
type PredictedFundings = readonly (readonly [
  coin: string,
  venues: readonly (readonly [venue: string, funding: PredictedFunding])[],
])[]

/** Name under which clients look for the exchange's own rate. Other venues are not watched. */
const OWN_VENUE = 'HlPerp'

const HOUR_MS = 3_600_000

const rememberedFundings = remembered<PredictedFundings>(
  (reads) => `${reads.marketsVersion()} ${reads.priceVersion()} ${nextHourMs(reads)}`,
  (reads) => JSON.stringify(fundingsOf(reads)),
)

/**
 * The present rate of longs, as in `metaAndAssetCtxs`: it is charged for every second, so it is what the next hour
 * costs while it stays as it is.
 */
export const predictedFundings = defineInfo<void, PredictedFundings>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedFundings(reads)
  },
})

function fundingsOf(reads: FacadeReads): PredictedFundings {
  const chain = reads.markets()
  const coins = coinsOf(chain).universe.filter((coin) => !coin.isDelisted && reads.quote(coin.pairIndex) !== undefined)
  return coins.map((coin) => {
    const { funding: fundingRate } = assetCtx(reads, chain, coin)
    return [coin.name, [[OWN_VENUE, { fundingRate, nextFundingTime: nextHourMs(reads), fundingIntervalHours: 1 }]]]
  })
}

function nextHourMs({ now }: FacadeReads): number {
  return (Math.floor(now() / HOUR_MS) + 1) * HOUR_MS
}
