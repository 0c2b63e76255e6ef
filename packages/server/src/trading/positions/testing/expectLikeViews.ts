import assert from 'node:assert/strict'
import { CollateralAmount, Price } from '@bezel/protocol'
import { readLiquidationPrice } from '../../../../../../contracts/test/trading.ts'
import type { World } from '../../../../../../contracts/test/world.ts'
import type { ChainMarkets } from '../../market/chainMarkets.ts'
import type { Moment } from '../../valuation/chainState.ts'
import { positionAnswer, type PositionPrices } from '../positionAnswer.ts'
import type { LivePosition } from '../positionModel.ts'

/**
 * Fails unless the interface shows a position with the pending fees and the liquidation price that the Diamond's own
 * views give at the latest block. `chain` and `at` must be of that block.
 */
export async function expectLikeViews(
  world: Pick<World, 'read'>,
  position: LivePosition,
  chain: ChainMarkets,
  prices: PositionPrices,
  at: Moment,
): Promise<void> {
  const { user, index, collateralIndex } = position.state.trade
  const answer = positionAnswer(position, chain, prices, at)
  const { decimals } = chain.collaterals.find((token) => token.index === collateralIndex)!
  const fees = await world.read('getTradePendingHoldingFeesCollateral', [user, index, prices.mark])
  const borrowed = fees.borrowingFeeCollateral + fees.borrowingFeeCollateral_old
  const text = (amount: bigint): string => CollateralAmount.format(CollateralAmount.of(amount), decimals)
  const liquidationPrice = await readLiquidationPrice(world, user, index, prices.index)
  assert.deepEqual(
    {
      fundingFee: answer?.fundingFee,
      borrowingFee: answer?.borrowingFee,
      liquidationPrice: answer?.liquidationPrice,
    },
    {
      fundingFee: text(fees.fundingFeeCollateral),
      borrowingFee: text(borrowed),
      liquidationPrice: Price.format(Price.of(liquidationPrice)),
    },
    `trade ${index} of ${user}`,
  )
}
