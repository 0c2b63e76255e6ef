import {
  ContractsVersion,
  HUNDRED_PERCENT,
  Leverage,
  max,
  PercentP,
  Price,
  Ratio,
  Slippage,
  TokenSize,
  Usd,
  type CollateralAmount,
} from '@bezel/protocol'
import type {
  Market,
  Moment,
  OiWindowsSettings,
  PairListing,
  PairState,
  Trade,
  TradeInfo,
  TraderTerms,
  VolumeState,
} from './chainState.ts'
import { tokensOfCollateral, tokensOfPart, usdOfCollateral } from './collateralAmounts.ts'
import { averageImpactP } from './depthBands.ts'

// The formulas of contracts/src/rules/PriceImpact.sol. An execution price is the oracle's, moved by half of the spread,
// by recent volume and by the skew.

/** The largest loss by spread and impact that a new trade may start with: 40 % of its collateral. */
const MAX_IMPACT_LOSS_P = PercentP.of((40n * HUNDRED_PERCENT) / 100n)

const MAX_PRICE = 2n ** 64n - 1n

/**
 * The parts that turn the oracle's price into an execution price; positive ones raise it (TradePriceImpact on the
 * chain).
 */
export interface PriceImpact {
  /** Size of the trade, or of the part that opens or closes. */
  readonly positionSizeToken: TokenSize
  readonly fixedSpreadP: PercentP
  readonly cumulVolPriceImpactP: PercentP
  readonly skewPriceImpactP: PercentP
  readonly totalPriceImpactP: PercentP
  readonly priceAfterImpact: Price
}

/** Prices a new trade, or an increase, of that size. Throws a `PriceOutOfRangeError` where the Diamond reverts. */
export function priceOpen(
  long: boolean,
  sizeCollateral: CollateralAmount,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
): PriceImpact {
  const { collateral, pair } = market
  const sizeUsd = usdOfCollateral(sizeCollateral, collateral)
  const { fixedP, volumeP, price: priceBeforeSkew } = openPriceBeforeSkew(long, sizeUsd, oraclePrice, market, moment)
  const positionSizeToken = tokensOfCollateral(sizeCollateral, priceBeforeSkew, collateral)
  const skewP = skewImpactP(long, positionSizeToken, pair)
  return summed(oraclePrice, positionSizeToken, fixedP, volumeP, skewP)
}

/** The market facts that move a price before the skew does. */
type MarketBeforeSkew = Pick<Market, 'listing' | 'volume' | 'terms'>

/** The price of a new trade before the skew moves it, with the parts that moved it from the oracle's. */
interface PriceBeforeSkew {
  readonly fixedP: PercentP
  readonly volumeP: PercentP
  readonly price: Price
}

/**
 * Returns the price by which the Diamond divides to get the size of a new trade: the oracle's after spread and volume.
 * The skew comes later, because it depends on that size. Throws a `PriceOutOfRangeError` where the Diamond reverts.
 */
export function openPriceBeforeSkew(
  long: boolean,
  sizeUsd: Usd,
  oraclePrice: Price,
  market: MarketBeforeSkew,
  moment: Moment,
): PriceBeforeSkew {
  const fixedP = halfSpreadP(long, market.listing, market.terms)
  const volumeP = openVolumeImpactP(long, sizeUsd, market, moment)
  return { fixedP, volumeP, price: storablePrice(shiftPrice(oraclePrice, PercentP.of(fixedP + volumeP))) }
}

/**
 * Prices a close of a trade, or of a part of it that has the size `sizeCollateral`. Trades from before v9.2 close at
 * the oracle's price, those from before v10 without skew.
 */
export function priceClose(
  trade: Trade,
  sizeCollateral: CollateralAmount,
  { contractsVersion, lastPosIncreaseBlock }: TradeInfo,
  oraclePrice: Price,
  isPnlPositive: boolean,
  market: Market,
  moment: Moment,
): PriceImpact {
  const { long } = trade
  const positionSizeToken = tokensOfPart(trade, sizeCollateral)
  const none = PercentP.zero
  if (contractsVersion < ContractsVersion.V9_2) return summed(oraclePrice, positionSizeToken, none, none, none)
  const sizeUsd = usdOfCollateral(sizeCollateral, market.collateral)
  const volumeP = closeVolumeImpactP({ long, sizeUsd, isPnlPositive, lastPosIncreaseBlock }, market, moment)
  const isSkewed = contractsVersion >= ContractsVersion.V10
  const skewP = isSkewed ? skewImpactP(!long, positionSizeToken, market.pair) : none
  return summed(oraclePrice, positionSizeToken, halfSpreadP(!long, market.listing, market.terms), volumeP, skewP)
}

/** True when spread and volume (without skew) would cost a new trade more than the Diamond allows. */
export function isImpactTooHigh(impact: PriceImpact, long: boolean, leverage: number): boolean {
  const lossP = ((impact.fixedSpreadP + impact.cumulVolPriceImpactP) * BigInt(leverage)) / Leverage.one
  return (long ? lossP : -lossP) > MAX_IMPACT_LOSS_P
}

function summed(
  oraclePrice: Price,
  positionSizeToken: TokenSize,
  fixedP: PercentP,
  volumeP: PercentP,
  skewP: PercentP,
): PriceImpact {
  const totalPriceImpactP = PercentP.of(fixedP + volumeP + skewP)
  return {
    positionSizeToken,
    fixedSpreadP: fixedP,
    cumulVolPriceImpactP: volumeP,
    skewPriceImpactP: skewP,
    totalPriceImpactP,
    priceAfterImpact: storablePrice(shiftPrice(oraclePrice, totalPriceImpactP)),
  }
}

function storablePrice(price: Price): Price {
  if (price < 1n || price > MAX_PRICE) throw new PriceOutOfRangeError(price)
  return price
}

/** Moves a price by a percentage, truncated. */
export function shiftPrice(price: Price, impactP: PercentP): Price {
  return Price.of(price + (price * impactP) / HUNDRED_PERCENT)
}

/** Factor from a `Slippage` to a `PercentP`. */
const SLIPPAGE_TO_P = PercentP.one / Slippage.one

/** Returns the pair's spread plus this trader's extra spread. */
export function traderSpreadP({ spreadP }: Pick<PairListing, 'spreadP'>, { fixedSpreadP }: TraderTerms): PercentP {
  return PercentP.of(spreadP + BigInt(fixedSpreadP) * SLIPPAGE_TO_P)
}

/** Returns half of the spread, signed: a buy pays more, a sell gets less. Truncated toward zero. */
export function halfSpreadP(isBuy: boolean, listing: Pick<PairListing, 'spreadP'>, terms: TraderTerms): PercentP {
  const half = traderSpreadP(listing, terms) / 2n
  return PercentP.of(isBuy ? half : -half)
}

/** The facts of a close that determine its volume impact. */
interface ClosingVolume {
  readonly long: boolean
  readonly sizeUsd: Usd
  readonly isPnlPositive: boolean
  readonly lastPosIncreaseBlock: number
}

/** Returns the volume impact of an open; positive raises the price. */
export function openVolumeImpactP(
  long: boolean,
  sizeUsd: Usd,
  market: MarketBeforeSkew,
  { timestampS }: Moment,
): PercentP {
  if (market.listing.factors.exemptOnOpen) return PercentP.zero
  return signedImpactP(long, sizeUsd, Ratio.one, market, timestampS)
}

/** Returns the volume impact of a close, which has the opposite direction: a long that closes sells. */
export function closeVolumeImpactP(close: ClosingVolume, market: Market, moment: Moment): PercentP {
  const { protectionCloseFactor, exemptAfterProtectionCloseFactor } = market.listing.factors
  const isProtected = isProtectedClose(close, market, moment)
  if (!isProtected && exemptAfterProtectionCloseFactor) return PercentP.zero
  const factor = isProtected ? Ratio.of(protectionCloseFactor) : Ratio.one
  return signedImpactP(!close.long, close.sizeUsd, factor, market, moment.timestampS)
}

/**
 * True for a close in profit soon after the last increase, which bears the protection factor unless the trader is
 * whitelisted.
 */
function isProtectedClose(close: ClosingVolume, { listing, terms }: Market, { blockNumber }: Moment): boolean {
  const { protectionCloseFactor, protectionCloseFactorBlocks } = listing.factors
  return (
    close.isPnlPositive &&
    protectionCloseFactor > 0 &&
    !terms.isProtectionWhitelisted &&
    blockNumber <= close.lastPosIncreaseBlock + protectionCloseFactorBlocks
  )
}

function signedImpactP(
  isBuy: boolean,
  sizeUsd: Usd,
  factor: Ratio,
  market: MarketBeforeSkew,
  timestampS: number,
): PercentP {
  const { cumulVolPriceImpactMultiplier: multiplier } = market.terms
  const k = multiplier > 0 ? (factor * BigInt(multiplier)) / Leverage.one : factor
  const impactP = (bandImpactP(isBuy, sizeUsd, market, timestampS) * k) / Ratio.one
  return PercentP.of(isBuy ? impactP : -impactP)
}

/** Returns f(e) + (f(e + S) - f(e)) / 2, where e is the recent volume of the same side. */
function bandImpactP(isBuy: boolean, sizeUsd: Usd, { listing, volume }: MarketBeforeSkew, timestampS: number): bigint {
  const book = isBuy ? listing.depthAbove : listing.depthBelow
  const { cumulativeFactor } = listing.factors
  const existingUsd = (activeVolumeUsd(volume, isBuy, timestampS) * BigInt(cumulativeFactor)) / Ratio.one
  const before = averageImpactP(book, Usd.of(existingUsd))
  const beyond = averageImpactP(book, Usd.of(existingUsd + sizeUsd))
  // Truncation inside the bands can put the larger volume's average one unit below the smaller one's.
  return beyond > before ? before + (beyond - before) / 2n : before
}

/** Returns the USD bought, or sold, in the windows that count at that time, including the current one. */
export function activeVolumeUsd({ settings, windows }: VolumeState, isBuy: boolean, timestampS: number): Usd {
  if (settings.windowsDuration === 0) return Usd.zero
  const current = windowIdAt(settings, timestampS)
  let volumeUsd = 0n
  for (let id = current; id >= 0 && id > current - settings.windowsCount; id -= 1) {
    const window = windows.get(id)
    if (window !== undefined) volumeUsd += isBuy ? window.oiLongUsd : window.oiShortUsd
  }
  return Usd.of(volumeUsd)
}

export function windowIdAt({ startTs, windowsDuration }: OiWindowsSettings, timestampS: number): number {
  return Math.floor((timestampS - startTs) / windowsDuration)
}

/** Returns the ids of the windows that count at that time, oldest first. */
export function activeWindowIds(settings: OiWindowsSettings, timestampS: number): readonly number[] {
  if (settings.windowsDuration === 0) return []
  const current = windowIdAt(settings, timestampS)
  const first = Math.max(0, current - settings.windowsCount + 1)
  return Array.from({ length: Math.max(0, current - first + 1) }, (_, at) => first + at)
}

type Skewed = Pick<PairState, 'oiLongToken' | 'oiShortToken' | 'skewDepth'>

/**
 * Returns the skew impact on a trade's price; positive raises it. It is half of the net tokens at the middle of the
 * trade over the depth. A trade that reduces the skew gets a better price.
 */
export function skewImpactP(isBuy: boolean, positionSizeToken: TokenSize, pair: Skewed): PercentP {
  if (pair.skewDepth === 0n) return PercentP.zero
  const half = positionSizeToken / 2n
  const net = netTokens(pair) + (isBuy ? half : -half)
  return PercentP.of((net * PercentP.one) / pair.skewDepth / 2n)
}

/** Returns the tokens of longs less those of shorts, for trades of v10 and later. */
export function netTokens({ oiLongToken, oiShortToken }: Pick<PairState, 'oiLongToken' | 'oiShortToken'>): TokenSize {
  return TokenSize.of(oiLongToken - oiShortToken)
}

/**
 * Returns the price at which the Diamond checks a position's take profit and stop loss, and at which its profit is
 * shown: the oracle's, shifted by the present skew (that of a trade of size 0). Trades from before v10 have no skew. At
 * least 1, the smallest price.
 */
export function marketPrice(oraclePrice: Price, contractsVersion: number, pair: Skewed): Price {
  if (contractsVersion < ContractsVersion.V10) return oraclePrice
  return max(shiftPrice(oraclePrice, skewImpactP(true, TokenSize.zero, pair)), Price.of(1n))
}

/**
 * Returns the oracle's price at which the market price is that of a trigger, rounded up: an order that rests executes
 * there. The formula of contracts/src/callbacks/Hit.sol.
 */
export function oraclePriceAt(trigger: Price, pair: Skewed): Price {
  const scale = HUNDRED_PERCENT + skewImpactP(true, TokenSize.zero, pair)
  return Price.of((trigger * HUNDRED_PERCENT + scale - 1n) / scale)
}

/** An execution price that the chain can't store: the Diamond reverts with Overflow. */
export class PriceOutOfRangeError extends Error {
  readonly price: Price
  constructor(price: Price) {
    super(`execution price ${price} (1e10) is outside of what the Diamond can store`)
    this.price = price
  }
}
