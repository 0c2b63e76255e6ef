import { aggregatorAndCallbacksAbi, CollateralPrice, pairsStorageAbi, type MarketRecord } from '@bezel/protocol/wire'
import { decodeFunctionResult, encodeFunctionData } from 'viem'

/** Thresholds of liquidation of a market, as the chain keeps them: percent 1e10, leverages 1e3. */
export interface LiquidationTerms {
  readonly maxLiqSpreadP: bigint
  readonly startThresholdP: bigint
  readonly endThresholdP: bigint
  readonly startLeverage: bigint
  readonly endLeverage: bigint
}

/** Facts about a market and a token that only the chain tells. */
export interface ChainTerms {
  readonly liquidation: LiquidationTerms
  /** Price of one token of the collateral in USD. */
  readonly collateralPriceUsd: string
}

/** Makes an `eth_call` of a contract. */
export type ChainCall = (to: `0x${string}`, data: `0x${string}`) => Promise<`0x${string}`>

const abi = [...pairsStorageAbi, ...aggregatorAndCallbacksAbi] as const

/** Reads the terms of a market and one of its collaterals from the Diamond. */
export async function readChainTerms(
  call: ChainCall,
  diamond: `0x${string}`,
  of: { readonly market: Pick<MarketRecord, 'pairIndex'>; readonly collateralIndex: number },
): Promise<ChainTerms> {
  const pair = [BigInt(of.market.pairIndex)] as const
  const token = [of.collateralIndex] as const
  const [params, priceUsd] = await Promise.all([
    call(diamond, encodeFunctionData({ abi, functionName: 'getPairLiquidationParams', args: pair })),
    call(diamond, encodeFunctionData({ abi, functionName: 'getCollateralPriceUsd', args: token })),
  ])
  const found = decodeFunctionResult({ abi, functionName: 'getPairLiquidationParams', data: params })
  const units = decodeFunctionResult({ abi, functionName: 'getCollateralPriceUsd', data: priceUsd })
  return {
    liquidation: {
      maxLiqSpreadP: BigInt(found.maxLiqSpreadP),
      startThresholdP: BigInt(found.startLiqThresholdP),
      endThresholdP: BigInt(found.endLiqThresholdP),
      startLeverage: BigInt(found.startLeverage),
      endLeverage: BigInt(found.endLeverage),
    },
    collateralPriceUsd: CollateralPrice.format(CollateralPrice.of(units)),
  }
}
