import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { zeroAddress } from 'viem'
import type { Address } from '@bezel/protocol'
import { P10, tradeOf } from '../../../../../e2e/devnet/chainClient.ts'
import { listFills } from '../../store/fillStore.ts'
import { listOrders } from '../../store/orderStore.ts'
import { listOpenPositions } from '../../store/positionStore.ts'
import type { OrderId } from '@bezel/protocol'
import { startDevnetWorld, type DevnetWorld, type FollowedStore } from './testing/devnetWorld.ts'

const LAST_ID = '9007199254740991' as OrderId

describe('a market order on the local chain, as the follower sees it', () => {
  let world: DevnetWorld
  let followed: FollowedStore

  before(async () => {
    world = await startDevnetWorld()
    followed = await world.follow()
  })
  after(async () => {
    await followed?.stop()
    await world?.close()
  })

  it('opens and closes', async () => {
    const trader = world.chain.account('trader-1')
    const trade = tradeOf(world.chain, trader.address, { price: 60_000n })
    await world.chain.send(trader, 'openTrade', [trade, 1000, zeroAddress])
    await world.chain.event((event) => event.eventName === 'MarketExecuted')
    await followed.caughtUp()
    const { read } = followed.opened.store
    const [order] = await listOrders(read, 'arbitrum-sepolia', trader.address as Address, LAST_ID, 10)
    console.log(JSON.stringify(order, (_, v) => (typeof v === 'bigint' ? `${v}n` : v), 1))
    assert.equal(order?.state?.status, 'filled')
    const [position] = await listOpenPositions(read, 'arbitrum-sepolia')
    console.log(position)
    await world.chain.send(trader, 'closeTradeMarket', [0, 60_000n * P10])
    await world.chain.event((event) => event.eventName === 'MarketExecuted' && event.args.open === false)
    await followed.caughtUp()
    assert.equal((await listOpenPositions(read, 'arbitrum-sepolia')).length, 0)
    console.log(
      await listFills(read, {
        chain: 'arbitrum-sepolia',
        trader: trader.address as Address,
        cursor: undefined,
        limit: 10,
      }),
    )
    console.log(followed.follower.stats(), followed.follower.reason())
    assert.equal(followed.follower.reason(), undefined)
  })
})
