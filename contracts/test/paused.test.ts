import { describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import { DEPLOYER, KEEPER } from '../../packages/devnet/src/deploy/accounts.ts'
import { sharedWorld } from './sharedWorld.ts'
import {
  ALICE,
  assertReverts,
  BTC,
  flatten,
  openPosition,
  packTrigger,
  placeOrder,
  requestClose,
  TRIGGER,
  usd,
  usdc,
  VECTOR_TRADE,
} from './trading.ts'
import { onlyEvent } from './world.ts'

const world = sharedWorld(async (prepared) => {
  await flatten(prepared, BTC)
})

const setState = (state: number) => world().send(DEPLOYER.account, 'updateTradingActivated', [state])
const openTrade = () => world().send(ALICE, 'openTrade', [VECTOR_TRADE, 1_000, zeroAddress])

describe('trading that is not activated', () => {
  it('CLOSE_ONLY refuses what opens or edits with Paused and lets everything out', async () => {
    const { index } = await openPosition(world(), ALICE)
    const order = await placeOrder(world(), ALICE, {})
    await setState(1)
    await assertReverts(openTrade(), 'Paused')
    await assertReverts(world().send(ALICE, 'updateOpenOrder', [order, 1n, 0n, 0n, 1]), 'Paused')
    await assertReverts(world().send(ALICE, 'updateTp', [index, 1n]), 'Paused')
    await assertReverts(world().send(ALICE, 'updateSl', [index, 1n]), 'Paused')
    await assertReverts(world().send(ALICE, 'updateLeverage', [index, 5_000]), 'Paused')
    await assertReverts(world().send(ALICE, 'increasePositionSize', [index, 1n, 1, 1n, 1]), 'Paused')
    await world().send(ALICE, 'updateMaxClosingSlippageP', [index, 2_000])
    await world().send(ALICE, 'cancelOpenOrder', [order])
    const sent = await world().send(ALICE, 'decreasePositionSize', [index, usdc(10), 0, usd(60_000)])
    await world().answer(onlyEvent(sent, 'PositionSizeUpdateInitiated').orderId, usd(60_000))
    const { orderId } = await requestClose(world(), ALICE, index)
    onlyEvent(await world().answer(orderId, usd(60_000)), 'MarketExecuted')
  })

  it('PAUSED refuses every action with Paused; requests that wait are still answered', async () => {
    const { index } = await openPosition(world(), ALICE)
    const { orderId } = await requestClose(world(), ALICE, index)
    await setState(2)
    await assertReverts(openTrade(), 'Paused')
    await assertReverts(world().send(ALICE, 'closeTradeMarket', [index, 1n]), 'Paused')
    await assertReverts(world().send(ALICE, 'cancelOpenOrder', [index]), 'Paused')
    await assertReverts(world().send(ALICE, 'updateMaxClosingSlippageP', [index, 1]), 'Paused')
    await assertReverts(world().send(ALICE, 'decreasePositionSize', [index, 1n, 0, 1n]), 'Paused')
    await assertReverts(world().send(ALICE, 'cancelOrderAfterTimeout', [orderId.index]), 'Paused')
    const packed = packTrigger(TRIGGER.liq, ALICE.address, index)
    await assertReverts(world().send(KEEPER.account, 'triggerOrder', [packed]), 'Paused')
    onlyEvent(await world().answer(orderId, usd(60_000)), 'MarketExecuted')
  })

  it('is governed by roles: WrongAccess for anybody else, AboveMax for an unknown state', async () => {
    await assertReverts(world().send(ALICE, 'updateTradingActivated', [2]), 'WrongAccess')
    await assertReverts(setState(3), 'AboveMax')
  })
})
