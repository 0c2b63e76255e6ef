import { ContractsVersion } from '@bezel/protocol'
import type { PairState } from './chainState.ts'
import { HUNDRED_PERCENT, larger, P_10 } from './scales.ts'

// As contracts/src/rules/PriceImpact.sol computes it.

type Skewed = Pick<PairState, 'oiLongToken' | 'oiShortToken' | 'skewDepth'>

/** Longs less shorts, 1e18 tokens, trades of v10 and later. */
export function netTokens({ oiLongToken, oiShortToken }: Pick<PairState, 'oiLongToken' | 'oiShortToken'>): bigint {
  return oiLongToken - oiShortToken
}

/**
 * What the skew does to the price of a trade, 1e10 per percent, + raises it: half of the net tokens at the middle of the trade over
 * the depth. A trade that reduces the skew gets a better price.
 */
export function skewImpactP(isBuy: boolean, positionSizeToken: bigint, pair: Skewed): bigint {
  if (pair.skewDepth === 0n) return 0n
  const half = positionSizeToken / 2n
  const net = netTokens(pair) + (isBuy ? half : -half)
  return (net * P_10) / pair.skewDepth / 2n
}

/** A price (1e10) moved by percent (1e10), truncated. */
export function shiftPrice(price: bigint, impactP: bigint): bigint {
  return price + (price * impactP) / HUNDRED_PERCENT
}

/**
 * The price at which the Diamond sees a position's take profit and stop loss, and at which its profit is shown: the oracle's, shifted
 * by the skew as it is (a trade of no size). Trades from before v10 know no skew. At least 1, the smallest price there is.
 */
export function marketPrice(oraclePrice: bigint, contractsVersion: number, pair: Skewed): bigint {
  if (contractsVersion < ContractsVersion.V10) return oraclePrice
  return larger(shiftPrice(oraclePrice, skewImpactP(true, 0n, pair)), 1n)
}
