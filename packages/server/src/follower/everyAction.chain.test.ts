import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, PendingOrderType, type Address } from '@bezel/protocol'
import { encodeFunctionData, zeroAddress } from 'viem'
import { argsOf, P10, tradeOf } from '@bezel/testkit/chainClient.ts'
import { listFills } from '../store/fillStore.ts'
import { startDevnetWorld, type DevnetWorld, type FollowedStore } from './testing/devnetWorld.ts'
import { expectBalancedBooks } from './testing/expectBalancedBooks.ts'
import { expectLikeChain, ordersOf } from './testing/expectLikeChain.ts'
import { expectSameStores } from './testing/expectSameStores.ts'

const CHAIN = 'arbitrum-sepolia'

describe('trades made on the local chain without the service, as the follower sees them', () => {
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

  const send: DevnetWorld['chain']['send'] = (...args) => world.chain.send(...args)
  const account = (name: string) => world.chain.account(name)

  async function open(name: string, terms: Partial<Parameters<typeof tradeOf>[2]> = {}): Promise<void> {
    const trader = account(name)
    const trade = tradeOf(world.chain, trader.address, { price: 60_000n, ...terms })
    await send(trader, 'openTrade', [trade, 1000, zeroAddress])
  }

  async function event(eventName: string, name: string, matches: (args: Args) => boolean = () => true): Promise<Args> {
    const { address } = account(name)
    const found = await world.chain.event((candidate) => {
      const args = argsOf(candidate)
      return candidate.eventName === eventName && (args.user ?? args.trader) === address && matches(args)
    })
    return argsOf(found)
  }
  type Args = ReturnType<typeof argsOf>

  /** Pauses mining, compares the store with the Diamond, and returns the trader's orders. */
  async function settled(name: string) {
    await world.mining.pause()
    await followed.caughtUp()
    const { address } = account(name)
    await expectLikeChain(followed.opened.store, world.chain, address)
    await expectBalancedBooks(followed.opened.store, world.chain, address)
    const orders = await ordersOf(followed.opened.store, address)
    world.mining.resume()
    return orders
  }

  const actions = async (name: string): Promise<string[]> => {
    const of = { chain: CHAIN, trader: account(name).address as Address, cursor: undefined, limit: 100 } as const
    return (await listFills(followed.opened.store.read, of)).map(({ fill }) => fill.action).toReversed()
  }

  it('a market order, changed in every way and closed', async () => {
    const name = 'trader-1'
    const trader = account(name)
    await open(name, { tp: 70_000n })
    await event('MarketExecuted', name)
    assert.deepEqual(
      (await settled(name)).map(({ state }) => state!.status),
      ['filled'],
    )

    await send(trader, 'updateTp', [0, 69_000n * P10])
    await send(trader, 'updateSl', [0, 58_000n * P10])
    await send(trader, 'updateMaxClosingSlippageP', [0, 2_000])
    await settled(name)

    await send(trader, 'updateLeverage', [0, 20_000])
    await settled(name)
    await event('LeverageUpdateExecuted', name)
    await settled(name)

    await send(trader, 'increasePositionSize', [0, 50_000_000n, 10_000, 60_000n * P10, 1_000])
    await settled(name)
    await event('PositionSizeIncreaseExecuted', name)
    await settled(name)

    await world.chain.control('evm_increaseTime', 36_000)
    await world.setPrice(60_500)
    await send(trader, 'decreasePositionSize', [0, 20_000_000n, 0, 60_500n * P10])
    await event('PositionSizeDecreaseExecuted', name)
    await settled(name)
    await send(trader, 'decreasePositionSize', [0, 0n, 1_000, 60_500n * P10])
    await event('PositionSizeDecreaseExecuted', name, ({ leverageDelta }) => leverageDelta === 1_000n)
    await settled(name)

    await send(trader, 'closeTradeMarket', [0, 60_500n * P10])
    await event('MarketExecuted', name, (args) => args.open === false)
    const orders = await settled(name)
    assert.deepEqual(
      orders.map(({ record, state }) => [record.request.kind, record.request.side, state!.status]),
      [
        ['open', 'long', 'filled'],
        ['increase', 'long', 'filled'],
        ['close', 'short', 'filled'],
        ['close', 'short', 'filled'],
        ['close', 'short', 'filled'],
      ],
    )
    assert.deepEqual(await actions(name), [
      'TradeOpenedMarket',
      'TradeLeverageUpdate',
      'TradePosSizeIncrease',
      'TradePosSizeDecrease',
      'TradePosSizeDecrease',
      'TradeClosedMarket',
    ])
    for (const { record, state } of orders) {
      const { size, positionId } = state!.fill!
      assert.equal(positionId, orders[0]!.state!.fill!.positionId)
      if (record.request.kind === 'close') assert.equal(size, record.request.size, 'a close asks for what it closes')
    }
    await world.setPrice(60_000)
  })

  it('requests that are refused', async () => {
    const name = 'trader-2'
    const trader = account(name)
    await open(name, { price: 50_000n })
    await event('MarketOpenCanceled', name)
    await open(name)
    await event('MarketExecuted', name)
    await send(trader, 'closeTradeMarket', [0, 70_000n * P10])
    await event('MarketCloseCanceled', name)
    await send(trader, 'decreasePositionSize', [0, 20_000_000n, 0, 70_000n * P10])
    await event('PositionSizeDecreaseExecuted', name)
    await send(trader, 'increasePositionSize', [0, 50_000_000n, 10_000, 50_000n * P10, 1_000])
    await settled(name)
    await event('PositionSizeIncreaseExecuted', name)
    const orders = await settled(name)
    assert.deepEqual(
      orders.map(({ state }) => [state!.status, state!.reason]),
      [
        ['rejected', 'SLIPPAGE'],
        ['filled', null],
        ['rejected', 'SLIPPAGE'],
        ['rejected', 'SLIPPAGE'],
        ['rejected', 'SLIPPAGE'],
      ],
    )
    assert.deepEqual(await actions(name), [
      'TradeOpenRefused',
      'TradeOpenedMarket',
      'TradeUpdateRefused',
      'TradeUpdateRefused',
      'TradeUpdateRefused',
    ])
  })

  it('resting orders: placed, updated, cancelled, replaced, executed; then a take profit and a stop loss', async () => {
    const name = 'trader-3'
    const trader = account(name)
    await open(name, { price: 59_000n, tradeType: 1, tp: 61_000n })
    await open(name, { price: 58_000n, tradeType: 1, sl: 57_000n })
    await open(name, { price: 62_000n, tradeType: 2, long: true })
    assert.deepEqual(
      (await settled(name)).map(({ record, state }) => [record.request.type, state!.status, state!.price]),
      [
        ['limit', 'open', '59000'],
        ['limit', 'open', '58000'],
        ['stop', 'open', '62000'],
      ],
    )
    await send(trader, 'updateOpenOrder', [0, 59_100n * P10, 61_000n * P10, 58_500n * P10, 2_000])
    await send(trader, 'cancelOpenOrder', [2])
    const updated = await settled(name)
    assert.deepEqual(
      updated.map(({ state }) => [state!.status, state!.price, state!.sl, state!.slippage]),
      [
        ['open', '59100', '58500', '2'],
        ['open', '58000', '57000', '1'],
        ['canceled', '62000', null, '1'],
      ],
    )
    const replacement = tradeOf(world.chain, trader.address, { price: 58_100n, tradeType: 1, sl: 57_000n })
    await send(trader, 'multicall', [
      [
        encodeFunctionData({ abi: diamondAbi, functionName: 'cancelOpenOrder', args: [1] }),
        encodeFunctionData({ abi: diamondAbi, functionName: 'openTrade', args: [replacement, 1_000, zeroAddress] }),
      ],
    ])
    assert.deepEqual(
      (await settled(name)).map(({ state }) => state!.status),
      ['open', 'canceled', 'canceled', 'open'],
    )
    await world.setPrice(59_050)
    await event('LimitExecuted', name, ({ limitIndex }) => limitIndex === 0)
    await settled(name)
    await world.setPrice(61_050)
    await event('LimitExecuted', name, ({ orderType }) => orderType === PendingOrderType.TP_CLOSE)
    await settled(name)
    await world.setPrice(58_050)
    await event('LimitExecuted', name, ({ limitIndex }) => limitIndex === 3)
    await world.setPrice(56_950)
    await event('LimitExecuted', name, ({ orderType }) => orderType === PendingOrderType.SL_CLOSE)
    const orders = await settled(name)
    assert.deepEqual(
      orders.map(({ record, state }) => [record.request.type, record.request.reduceOnly, state!.status]),
      [
        ['limit', false, 'filled'],
        ['limit', false, 'canceled'],
        ['stop', false, 'canceled'],
        ['limit', false, 'filled'],
        ['limit', true, 'filled'],
        ['stop', true, 'filled'],
      ],
    )
    assert.deepEqual(await actions(name), ['TradeOpenedLimit', 'TradeClosedTP', 'TradeOpenedLimit', 'TradeClosedSL'])
    await world.setPrice(60_000)
  })

  it('a liquidation', async () => {
    const name = 'trader-4'
    await open(name, { leverage: 50_000 })
    await event('MarketExecuted', name)
    await world.setPrice(58_000)
    await event('LimitExecuted', name, ({ orderType }) => orderType === PendingOrderType.LIQ_CLOSE)
    const orders = await settled(name)
    assert.deepEqual(
      orders.map(({ record }) => record.request.type),
      ['market', 'stop'],
    )
    assert.deepEqual(await actions(name), ['TradeOpenedMarket', 'TradeClosedLIQ'])
    await world.setPrice(60_000)
  })

  it('a request that the oracle never answers', async () => {
    const name = 'trader-5'
    await world.chain.control('bezel_pauseOracle', true)
    await open(name)
    assert.deepEqual(
      (await settled(name)).map(({ state }) => state!.status),
      ['pending'],
    )
    await world.mining.pause()
    await world.chain.control('hardhat_mine', 200)
    world.mining.resume()
    assert.deepEqual(
      (await settled(name)).map(({ state }) => state!.status),
      ['timed_out'],
    )
    await send(account(name), 'cancelOrderAfterTimeout', [0])
    assert.deepEqual(
      (await settled(name)).map(({ state }) => state!.status),
      ['canceled'],
    )
    await world.chain.control('bezel_pauseOracle', false)
  })

  it('and a follower that starts now says the same', async () => {
    await world.mining.pause()
    await followed.caughtUp()
    const fresh = await world.follow()
    try {
      await fresh.caughtUp()
      await expectSameStores(followed.opened.store, fresh.opened.store, CHAIN)
    } finally {
      await fresh.stop()
      world.mining.resume()
    }
  })
})
