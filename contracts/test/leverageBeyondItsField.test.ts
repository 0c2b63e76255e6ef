import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, BTC, openPosition, USDC, usd } from './trading.ts'
import { onlyEvent } from './world.ts'

const MAX_LEVERAGE = 2 ** 24 - 1
const LIQ_REACHED = 12

/** A world without fees, so that nothing else refuses a size that the collateral can't carry. */
const world = sharedWorld(async (prepared) => {
  const free = {
    totalPositionSizeFeeP: 0,
    totalLiqCollateralFeeP: 0,
    oraclePositionSizeFeeP: 0,
    minPositionSizeUsd: 0,
    __placeholder: 0n,
  }
  await prepared.configure('setFees', [[0n], [free]])
})

it('an increase whose leverage no longer fits its 24 bits is refused, not cut to a small leverage', async () => {
  const { index } = await openPosition(world(), ALICE)
  const before = await world().read('getPairOiAfterV10Token', [USDC, BTC])
  const args = [index, 0n, MAX_LEVERAGE, usd(60_000), 60_000] as const
  const sent = await world().send(ALICE, 'increasePositionSize', args)
  const answered = await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, usd(60_000))

  assert.equal(onlyEvent(answered, 'PositionSizeIncreaseExecuted').cancelReason, LIQ_REACHED)
  assert.deepEqual(await world().read('getPairOiAfterV10Token', [USDC, BTC]), before)
})
