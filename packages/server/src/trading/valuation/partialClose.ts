import type { Trade } from './chainState.ts'

// As contracts/src/callbacks/DecreasePositionSize.sol computes it.

/** The part of a trade that closes when collateral is taken out of it; its tokens truncated. */
export function partByCollateral(trade: Trade, collateralDelta: bigint): Trade {
  return {
    ...trade,
    collateralAmount: collateralDelta,
    positionSizeToken: (trade.positionSizeToken * collateralDelta) / trade.collateralAmount,
  }
}

/** The part of a trade that closes when only its leverage (1e3) falls. */
export function partByLeverage(trade: Trade, leverageDelta: number): Trade {
  return {
    ...trade,
    leverage: leverageDelta,
    positionSizeToken: (trade.positionSizeToken * BigInt(leverageDelta)) / BigInt(trade.leverage),
  }
}
