import { formatDecimal, symbolOfPair, type MarketCollateral } from '@bezel/protocol/wire'
import type { ReadContract } from './readDiamond.ts'
import { USD_DECIMALS } from './scales.ts'
import type { MarketFacts } from './verifyContext.ts'

// What the service no longer lists, because nothing new is opened in it, must still be closed and cancelled.

/** The most that any market has; the service counts so where it does not know. */
const ANY_SIZE_PRECISION = 8
const MIN_FEES_ON_OPEN = 5n

/** One of the pairs that the trader has something in, if the chain calls it so. */
export async function unlistedMarket(
  read: ReadContract,
  diamond: `0x${string}`,
  symbol: string,
  pairIndices: readonly number[],
): Promise<MarketFacts | undefined> {
  for (const pairIndex of new Set(pairIndices)) {
    const { from, to } = await read(diamond, 'pairs', [BigInt(pairIndex)])
    if (symbolOfPair(from, to) !== symbol) continue
    const minFeeUsd = await read(diamond, 'pairMinFeeUsd', [BigInt(pairIndex)])
    const minCollateralUsd = formatDecimal(minFeeUsd * MIN_FEES_ON_OPEN, USD_DECIMALS)
    return { symbol, pairIndex, sizePrecision: ANY_SIZE_PRECISION, minCollateralUsd }
  }
  return undefined
}

/** A token of the chain by its own name, active or not. */
export async function unlistedCollateral(
  read: ReadContract,
  diamond: `0x${string}`,
  symbol: string,
): Promise<MarketCollateral | undefined> {
  const tokens = await read(diamond, 'getCollaterals', [])
  for (const [place, { collateral: address }] of tokens.entries()) {
    if ((await read(address, 'symbol', [])) !== symbol) continue
    // The Diamond counts them from 1.
    return { symbol, index: place + 1, address, decimals: await read(address, 'decimals', []) }
  }
  return undefined
}
