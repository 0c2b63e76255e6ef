import { ContractsVersion } from '@bezel/protocol'
import { positionSizeCollateral, tokensOfCollateral, usdOfCollateral } from './collateralAmounts.ts'
import type { Market, Moment, Trade, TradeInfo } from './chainState.ts'
import { HUNDRED_PERCENT, ONE_E3 } from './scales.ts'
import { shiftPrice, skewImpactP } from './skewImpact.ts'
import { halfSpreadP } from './spread.ts'
import { closeVolumeImpactP, openVolumeImpactP } from './volumeImpact.ts'

// As contracts/src/rules/PriceImpact.sol computes it.

/** Spread and impact may cost a new trade at most 40 % of its collateral. */
const MAX_IMPACT_LOSS_P = (40n * HUNDRED_PERCENT) / 100n
const MAX_PRICE = 2n ** 64n - 1n

/** What turns the oracle's price into an execution price; percentages 1e10, + raises the price. TradePriceImpact on chain. */
export interface PriceImpact {
  /** 1e18: of the trade, or of the part that opens or closes. */
  readonly positionSizeToken: bigint
  readonly fixedSpreadP: bigint
  readonly cumulVolPriceImpactP: bigint
  readonly skewPriceImpactP: bigint
  readonly totalPriceImpactP: bigint
  readonly priceAfterImpact: bigint
}

/** Price of a new trade, or of an increase, of that size. Throws PriceOutOfRangeError where the Diamond reverts. */
export function priceOpen(
  long: boolean,
  sizeCollateral: bigint,
  oraclePrice: bigint,
  market: Market,
  moment: Moment,
): PriceImpact {
  const { listing, terms, collateral, pair } = market
  const fixedP = halfSpreadP(long, listing, terms)
  const volumeP = openVolumeImpactP(long, usdOfCollateral(sizeCollateral, collateral), market, moment)
  // The token size is taken before the skew moves the price, since the skew depends on it.
  const priceBeforeSkew = storablePrice(shiftPrice(oraclePrice, fixedP + volumeP))
  const positionSizeToken = tokensOfCollateral(sizeCollateral, priceBeforeSkew, collateral)
  const skewP = skewImpactP(long, positionSizeToken, pair)
  return summed(oraclePrice, positionSizeToken, fixedP, volumeP, skewP)
}

/**
 * Price of a close. `part` is the trade, or the part of it that closes (see partialClose.ts). Trades older than v9.2 close at the
 * oracle's price, those from before v10 without skew.
 */
export function priceClose(
  part: Trade,
  { contractsVersion, lastPosIncreaseBlock }: TradeInfo,
  oraclePrice: bigint,
  isPnlPositive: boolean,
  market: Market,
  moment: Moment,
): PriceImpact {
  const { positionSizeToken, long } = part
  if (contractsVersion < ContractsVersion.V9_2) return summed(oraclePrice, positionSizeToken, 0n, 0n, 0n)
  const sizeUsd = usdOfCollateral(positionSizeCollateral(part), market.collateral)
  const volumeP = closeVolumeImpactP({ long, sizeUsd, isPnlPositive, lastPosIncreaseBlock }, market, moment)
  const isSkewed = contractsVersion >= ContractsVersion.V10
  const skewP = isSkewed ? skewImpactP(!long, positionSizeToken, market.pair) : 0n
  return summed(oraclePrice, positionSizeToken, halfSpreadP(!long, market.listing, market.terms), volumeP, skewP)
}

/** Whether spread and volume (skew not counted) would cost a new trade more than the Diamond allows. */
export function isImpactTooHigh(impact: PriceImpact, long: boolean, leverage: number): boolean {
  const lossP = ((impact.fixedSpreadP + impact.cumulVolPriceImpactP) * BigInt(leverage)) / ONE_E3
  return (long ? lossP : -lossP) > MAX_IMPACT_LOSS_P
}

function summed(
  oraclePrice: bigint,
  positionSizeToken: bigint,
  fixedP: bigint,
  volumeP: bigint,
  skewP: bigint,
): PriceImpact {
  const totalPriceImpactP = fixedP + volumeP + skewP
  return {
    positionSizeToken,
    fixedSpreadP: fixedP,
    cumulVolPriceImpactP: volumeP,
    skewPriceImpactP: skewP,
    totalPriceImpactP,
    priceAfterImpact: storablePrice(shiftPrice(oraclePrice, totalPriceImpactP)),
  }
}

function storablePrice(price: bigint): bigint {
  if (price < 1n || price > MAX_PRICE) throw new PriceOutOfRangeError(price)
  return price
}

/** An execution price that the chain can't store: the Diamond reverts with Overflow. */
export class PriceOutOfRangeError extends Error {
  readonly price: bigint
  constructor(price: bigint) {
    super(`execution price ${price} (1e10) is outside of what the Diamond can store`)
    this.price = price
  }
}
