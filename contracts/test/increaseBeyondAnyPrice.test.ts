import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sharedWorld } from './sharedWorld.ts'
import { ALICE, assertReverts, LINK, mineBlocks, openPosition, requestClose, usd, usdc } from './trading.ts'
import { onlyEvent } from './world.ts'

const MAX_LEVERAGE = 2 ** 24 - 1
const MAX_PRICE = 2n ** 64n - 1n

const world = sharedWorld()

it('an increase that sells LINK below zero can not be answered, and is taken back after the timeout', async () => {
  const terms = { pairIndex: LINK, long: false, collateralAmount: usdc(20_000), leverage: 2_000, openPrice: usd(14) }
  const { index } = await openPosition(world(), ALICE, terms)
  const before = await world().read('getTrade', [ALICE.address, index])
  const args = [index, 0n, MAX_LEVERAGE, MAX_PRICE, 65_535] as const
  const sent = await world().send(ALICE, 'increasePositionSize', args)
  const { orderId } = onlyEvent(sent, 'PositionSizeUpdateInitiated')

  await assertReverts(world().answer(orderId, usd(14)), 'Overflow')
  await mineBlocks(world(), await world().read('getMarketOrdersTimeoutBlocks', []))
  await world().send(ALICE, 'cancelOrderAfterTimeout', [orderId.index])

  assert.deepEqual(await world().read('getTrade', [ALICE.address, index]), before)
  await requestClose(world(), ALICE, index, usd(14))
})
