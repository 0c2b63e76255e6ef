import { parseUnits } from 'viem'
import { FEES, FUNDING } from '../../../packages/devnet/src/listing/fees.ts'
import { GROUPS } from '../../../packages/devnet/src/listing/groups.ts'
import { PAIRS } from '../../../packages/devnet/src/listing/pairs.ts'

/** A pair of the campaign, with its terms from the listing. */
export type Market = {
  pairIndex: number
  startPrice: bigint // 1e10
  spreadP: bigint // 1e10 per percent
  minLeverage: number // 1e3
  maxLeverage: number // 1e3
  counterMaxLeverage: number // 1e3, 0 = no counter trades
  counterFeeMultiplier: bigint // 1e3
  skewDepth: bigint // 1e18 tokens, 0 = no skew impact
  feeP: bigint // 1e10 per percent
  liqFeeP: bigint // 1e10 per percent of the collateral
  minPositionUsd: bigint // 1e18
  /** Size of one price move, relative to a crypto pair's 1. */
  liveliness: number
}

/**
 * BTC has depth, funding and skew; LINK has little depth and much skew; EUR/USD has none of them, but leverage 1000.
 */
const PAIR_INDICES = [0, 2, 21]

export const MARKETS: readonly Market[] = PAIR_INDICES.map(market)

/** Collaterals of arbitrum-sepolia: DAI (18 decimals), WETH (18 decimals, 2500 USD), USDC (6 decimals). */
export const COLLATERAL_INDICES = [1, 2, 3] as const

function market(pairIndex: number): Market {
  const pair = PAIRS.find(({ index }) => index === pairIndex)!
  const group = GROUPS.find(({ index }) => index === pair.groupIndex)!
  const fee = FEES.find(({ index }) => index === pair.feeIndex)!
  const funding = FUNDING.find((entry) => entry.pairIndex === pairIndex)
  return {
    pairIndex,
    startPrice: parseUnits(pair.startPrice, 10),
    spreadP: pair.spreadP,
    minLeverage: Number(group.minLeverage),
    maxLeverage: Number(group.maxLeverage),
    counterMaxLeverage: Number(funding?.counterTradeMaxLeverage ?? 0n),
    counterFeeMultiplier: funding?.counterTradeFeeMultiplier ?? 1_000n,
    skewDepth: (funding?.skewDepthTokens ?? 0n) * 10n ** 18n,
    feeP: fee.totalPositionSizeFeeP,
    liqFeeP: fee.totalLiqCollateralFeeP,
    minPositionUsd: fee.minPositionSizeUsd * 10n ** 15n,
    liveliness: group.session === 'forex' ? 0.1 : 1,
  }
}

export function marketOf(pairIndex: number): Market {
  const found = MARKETS.find((entry) => entry.pairIndex === pairIndex)
  if (found === undefined) throw new Error(`pair ${pairIndex} is not part of the campaign`)
  return found
}

/** Returns `price` moved by parts per million, never below 1. */
export function movedBy(price: bigint, ppm: number): bigint {
  const moved = (price * BigInt(1_000_000 + Math.round(ppm))) / 1_000_000n
  return moved > 1n ? moved : 1n
}
