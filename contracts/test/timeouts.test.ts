import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEPLOYER, KEEPER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BOB,
  BTC,
  candle,
  eventNames,
  flatten,
  gainOf,
  mineBlocks,
  openPosition,
  passTime,
  placeOrder,
  requestClose,
  requestOpen,
  trigger,
  TRIGGER,
  usd,
  usdc,
} from './trading.ts'
import { onlyEvent, type Outcome } from './world.ts'

const TIMEOUT_BLOCKS = 200
const TRIGGER_TIMEOUT_BLOCKS = 50
const HOUR_S = 3_600

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
})

const reclaim = (orderIndex: number) => world().send(ALICE, 'cancelOrderAfterTimeout', [orderIndex])

/**
 * Checks that reclaiming reverts at block created + timeout - 1 and succeeds at created + timeout. `send` simulates a
 * call on the latest block first, so the number of the latest block decides.
 */
async function assertBoundary(request: Outcome, orderIndex: number): Promise<Outcome> {
  const lastBlock = Number(request.blockNumber) + TIMEOUT_BLOCKS - 1
  await mineBlocks(world(), lastBlock - world().chain.head().number)
  await assertReverts(reclaim(orderIndex), 'WaitTimeout')
  await mineBlocks(world(), 1)
  return reclaim(orderIndex)
}

describe('a market request that nobody answers', () => {
  it('has the timeout of its chain', async () => {
    assert.equal(await world().read('getMarketOrdersTimeoutBlocks', []), TIMEOUT_BLOCKS)
    assert.equal(await world().read('getTriggerTimeoutBlocks', []), TRIGGER_TIMEOUT_BLOCKS)
  })

  it('open: all collateral comes back, from the block created + timeout on', async () => {
    const { orderId, outcome } = await requestOpen(world(), ALICE)
    const { createdBlock } = await world().read('getPendingOrder', [orderId])
    assert.equal(BigInt(createdBlock), outcome.blockNumber)
    const gained = await gainOf(world(), ALICE.address, async () => {
      const reclaimed = await assertBoundary(outcome, orderId.index)
      assert.deepEqual(eventNames(reclaimed), [
        'PendingOrderClosed',
        'CollateralReturnedAfterTimeout',
        'ChainlinkCallbackTimeout',
      ])
      assert.deepEqual(onlyEvent(reclaimed, 'CollateralReturnedAfterTimeout'), {
        pendingOrderId: orderId,
        collateralIndex: 3,
        trader: ALICE.address,
        collateralAmount: usdc(100),
      })
      assert.deepEqual(onlyEvent(reclaimed, 'ChainlinkCallbackTimeout').pendingOrderId, orderId)
    })
    assert.equal(gained, usdc(100))
    await assertReverts(reclaim(orderId.index), 'NoOrder')
  })

  it('close: nothing comes back, the position stays and can be closed again', async () => {
    const { index } = await openPosition(world(), ALICE)
    const { orderId, outcome } = await requestClose(world(), ALICE, index)
    const gained = await gainOf(world(), ALICE.address, async () => {
      const reclaimed = await assertBoundary(outcome, orderId.index)
      assert.deepEqual(eventNames(reclaimed), ['PendingOrderClosed', 'ChainlinkCallbackTimeout'])
    })
    assert.equal(gained, 0n)
    const again = await requestClose(world(), ALICE, index)
    onlyEvent(await world().answer(again.orderId, usd(60_000)), 'MarketExecuted')
  })

  it('leverage decrease: the added collateral comes back; leverage increase: there is none', async () => {
    const { index } = await openPosition(world(), ALICE)
    const decrease = await world().send(ALICE, 'updateLeverage', [index, 5_000])
    const gained = await gainOf(world(), ALICE.address, async () => {
      const reclaimed = await assertBoundary(decrease, 1)
      assert.equal(onlyEvent(reclaimed, 'CollateralReturnedAfterTimeout').collateralAmount, usdc(100))
    })
    assert.equal(gained, usdc(100))
    const increase = await world().send(ALICE, 'updateLeverage', [index, 20_000])
    const nothing = await gainOf(world(), ALICE.address, async () => {
      const reclaimed = await assertBoundary(increase, 2)
      assert.deepEqual(eventNames(reclaimed), ['PendingOrderClosed', 'ChainlinkCallbackTimeout'])
    })
    assert.equal(nothing, 0n)
  })

  it('size increase: the added collateral comes back; size decrease: there is none', async () => {
    const { index } = await openPosition(world(), ALICE)
    const increase = await world().send(ALICE, 'increasePositionSize', [index, usdc(40), 10_000, usd(60_000), 1_000])
    const gained = await gainOf(world(), ALICE.address, async () => {
      const reclaimed = await assertBoundary(increase, 1)
      assert.equal(onlyEvent(reclaimed, 'CollateralReturnedAfterTimeout').collateralAmount, usdc(40))
    })
    assert.equal(gained, usdc(40))
    const decrease = await world().send(ALICE, 'decreasePositionSize', [index, usdc(40), 0, usd(60_000)])
    const nothing = await gainOf(world(), ALICE.address, () => assertBoundary(decrease, 2))
    assert.equal(nothing, 0n)
    assert.equal((await world().read('getTrade', [ALICE.address, index])).collateralAmount, usdc(100))
  })

  it('can be taken back by its owner only, and only if it is a market request', async () => {
    await requestOpen(world(), ALICE)
    await mineBlocks(world(), TIMEOUT_BLOCKS)
    await assertReverts(world().send(BOB, 'cancelOrderAfterTimeout', [0]), 'NoOrder')
    await assertReverts(reclaim(1), 'NoOrder')
    const index = await placeOrder(world(), ALICE, {})
    await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await mineBlocks(world(), TIMEOUT_BLOCKS)
    await assertReverts(world().send(KEEPER.account, 'cancelOrderAfterTimeout', [0]), 'WrongOrderType')
  })

  it('can still be answered after the timeout, as long as nobody took it back', async () => {
    const { orderId } = await requestOpen(world(), ALICE)
    await mineBlocks(world(), 3 * TIMEOUT_BLOCKS)
    onlyEvent(await world().answer(orderId, usd(60_000)), 'MarketExecuted')
    await assertReverts(reclaim(orderId.index), 'NoOrder')
  })

  it('can be answered for one hour exactly; later fulfill reverts DoesntExist, and the money can still be taken back', async () => {
    const first = await requestOpen(world(), ALICE)
    await passTime(world(), HOUR_S)
    onlyEvent(await world().answer(first.orderId, usd(60_000)), 'MarketExecuted')
    const second = await requestOpen(world(), ALICE)
    await passTime(world(), HOUR_S + 1)
    await assertReverts(world().answer(second.orderId, usd(60_000)), 'DoesntExist')
    await mineBlocks(world(), TIMEOUT_BLOCKS)
    assert.equal(await gainOf(world(), ALICE.address, () => reclaim(second.orderId.index)), usdc(100))
  })

  it('is harmless to answer once it was taken back', async () => {
    const { orderId, outcome } = await requestOpen(world(), ALICE)
    await assertBoundary(outcome, orderId.index)
    const gained = await gainOf(world(), ALICE.address, async () => {
      assert.deepEqual(eventNames(await world().answer(orderId, usd(60_000))), [])
    })
    assert.equal(gained, 0n)
  })
})

describe('a trigger that nobody answers', () => {
  it('keeps a second trigger and every edit off until its own timeout', async () => {
    const index = await placeOrder(world(), ALICE, {})
    await trigger(world(), TRIGGER.limit, ALICE.address, index)
    const update = () => world().send(ALICE, 'updateOpenOrder', [index, usd(61_000), 0n, 0n, 1_000])
    await mineBlocks(world(), TRIGGER_TIMEOUT_BLOCKS - 1)
    await assertReverts(update(), 'PendingTrigger')
    await assertReverts(world().send(ALICE, 'cancelOpenOrder', [index]), 'PendingTrigger')
    await assertReverts(trigger(world(), TRIGGER.limit, ALICE.address, index), 'PendingTrigger')
    await mineBlocks(world(), 1)
    await update()
    await trigger(world(), TRIGGER.limit, ALICE.address, index)
  })

  it('keeps off edits of what it is about and nothing else', async () => {
    const { index } = await openPosition(world(), ALICE, { tp: usd(70_000), sl: usd(59_000) })
    await trigger(world(), TRIGGER.tp, ALICE.address, index)
    await assertReverts(world().send(ALICE, 'updateTp', [index, usd(71_000)]), 'PendingTrigger')
    await world().send(ALICE, 'updateSl', [index, usd(59_100)])
    await trigger(world(), TRIGGER.sl, ALICE.address, index)
    await assertReverts(world().send(ALICE, 'updateSl', [index, usd(59_200)]), 'PendingTrigger')
    await requestClose(world(), ALICE, index)
  })

  it('is found before it is noticed that the trade is gone, as in the live order of checks', async () => {
    const { index } = await openPosition(world(), ALICE, { tp: usd(70_000), sl: usd(59_000) })
    await trigger(world(), TRIGGER.tp, ALICE.address, index)
    const { orderId } = await requestClose(world(), ALICE, index)
    await world().answer(orderId, usd(60_000))
    await assertReverts(world().send(ALICE, 'updateTp', [index, usd(71_000)]), 'PendingTrigger')
    await assertReverts(world().send(ALICE, 'updateSl', [index, usd(59_100)]), 'DoesntExist')
    await mineBlocks(world(), TRIGGER_TIMEOUT_BLOCKS)
    await assertReverts(world().send(ALICE, 'updateTp', [index, usd(71_000)]), 'DoesntExist')
  })

  it('is over as soon as it is answered', async () => {
    const index = await placeOrder(world(), ALICE, {})
    const orderId = await trigger(world(), TRIGGER.limit, ALICE.address, index)
    await world().answer(orderId, candle(usd(61_000)))
    await world().send(ALICE, 'cancelOpenOrder', [index])
    const block = await world().read('getTradePendingOrderBlock', [{ user: ALICE.address, index }, TRIGGER.limit])
    assert.equal(block, 0n)
  })

  it('has no timeout of zero blocks', async () => {
    await assertReverts(world().send(DEPLOYER.account, 'updateTriggerTimeoutBlocks', [0]), 'TimeoutBlocksZero')
    await assertReverts(world().send(DEPLOYER.account, 'updateMarketOrdersTimeoutBlocks', [0]), 'BelowMin')
  })
})
