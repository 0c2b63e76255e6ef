/** A fee group as `addFees` takes it: percentages 1e10 per percent, the floor in 1e3 USD. */
export interface ListedFee {
  readonly index: number
  readonly totalPositionSizeFeeP: bigint
  readonly totalLiqCollateralFeeP: bigint
  readonly oraclePositionSizeFeeP: bigint
  readonly minPositionSizeUsd: bigint
}

/** Fee in thousandths of a percent of the position, floor in whole USD. A liquidation costs 10 % of the collateral in every group. */
function fee(index: number, feeMilliPercent: bigint, floorUsd: bigint): ListedFee {
  return {
    index,
    totalPositionSizeFeeP: feeMilliPercent * 10n ** 7n,
    totalLiqCollateralFeeP: 10n * 10n ** 10n,
    oraclePositionSizeFeeP: 0n,
    minPositionSizeUsd: floorUsd * 1000n,
  }
}

/** Fee groups of the public arbitrum-sepolia sample of June 2025. */
export const FEES: readonly ListedFee[] = [
  fee(0, 60n, 1_250n),
  fee(1, 12n, 45_000n),
  fee(2, 80n, 10_000n),
  fee(3, 120n, 45_000n),
  fee(4, 160n, 45_000n),
  fee(5, 50n, 45_000n),
  fee(6, 50n, 10_000n),
  fee(7, 80n, 10_000n),
  fee(8, 16n, 35_000n),
  fee(9, 20n, 35_000n),
]
