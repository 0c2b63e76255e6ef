import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { diamondAbi, type Address } from '@bezel/protocol'
import { createWalletClient, http, zeroAddress, type Hex } from 'viem'
import { P10, tradeOf } from '@bezel/testkit/chainClient.ts'
import { depthFinality } from '../chain/finality.ts'
import { startDevnetWorld, type DevnetWorld, type FollowedStore } from './testing/devnetWorld.ts'
import { expectBalancedBooks } from './testing/expectBalancedBooks.ts'
import { expectLikeChain, ordersOf } from './testing/expectLikeChain.ts'
import { expectSameStores } from './testing/expectSameStores.ts'

const CHAIN = 'arbitrum-sepolia'
const DEPTHS = Array.from({ length: 16 }, (_, i) => i + 1)
/**
 * The number of depths from one new follower to the next. A new follower reads the whole chain again, and what an
 * earlier reorganisation left wrong in the store is still there when the next one comes. CAMPAIGN=1 has one per depth.
 */
const DEPTHS_PER_NEW_FOLLOWER = process.env['CAMPAIGN'] === undefined ? 4 : 1
const KEPT_POSITIONS = 2
const TRADERS = ['trader-1', 'trader-2', 'trader-3']

// After every reorganisation, the store must have what the Diamond has of each trader. A store that followed all of
// them must equal a store that has only seen the current chain.

describe('reorganisations of the local chain', () => {
  let world: DevnetWorld
  let followed: FollowedStore

  before(async () => {
    world = await startDevnetWorld({ DEVNET_ORACLE_DELAY_MS: '0' })
    await world.mining.pause()
    followed = await world.follow()
  })
  after(async () => {
    await followed?.stop()
    await world?.close()
  })

  /** Sends a transaction without waiting for it; skips a call that can't be done now. */
  async function send(name: string, functionName: string, args: readonly unknown[]): Promise<Hex | undefined> {
    const account = world.chain.account(name)
    const { chain } = world.chain.client
    const wallet = createWalletClient({ account, chain: chain!, transport: http() })
    const request = { address: world.chain.diamond, abi: diamondAbi, functionName, args, gas: 3_000_000n }
    return wallet.writeContract(request as never).catch(() => undefined)
  }

  /**
   * Mines some blocks with every kind of action: opens, closes, resting orders placed, changed, executed and cancelled,
   * price moves.
   */
  async function trade(round: number): Promise<void> {
    // A point to which the local chain can go back; without it a reorganisation mines up to 64 more blocks again.
    await world.chain.control('evm_snapshot')
    for (const [i, name] of TRADERS.entries()) {
      const { address } = world.chain.account(name)
      const terms = { long: (round + i) % 2 === 0, leverage: 10_000 + 1_000 * ((round * 3 + i) % 5) }
      const price = (round + i) % 3 === 0 ? 59_000n : 60_000n
      const tradeType = (round + i) % 3 === 0 ? 1 : 0
      await send(name, 'openTrade', [tradeOf(world.chain, address, { ...terms, price, tradeType }), 3_000, zeroAddress])
    }
    await mine(2)
    for (const [i, name] of TRADERS.entries()) {
      const trades = await openTrades(name)
      const first = trades[(round + i) % Math.max(1, trades.length)]
      if (first === undefined) continue
      if (first.tradeType !== 0) {
        const isUpdate = round % 2 === 0
        await (isUpdate
          ? send(name, 'updateOpenOrder', [first.index, 59_100n * P10, 0n, 0n, 2_000])
          : send(name, 'cancelOpenOrder', [first.index]))
      } else if (round % 4 === 0) await send(name, 'decreasePositionSize', [first.index, 20_000_000n, 0, 60_000n * P10])
      else if (round % 4 === 1) await send(name, 'updateSl', [first.index, first.long ? 57_000n * P10 : 63_000n * P10])
      else if (round % 4 === 2) await send(name, 'updateLeverage', [first.index, 9_000 + round])
      else await send(name, 'closeTradeMarket', [first.index, 60_000n * P10])
      await closeExcess(
        name,
        trades.filter((open) => open.tradeType === 0 && open !== first),
      )
    }
    await mine(1)
    await world.setPrice(round % 5 === 0 ? 58_950 : 60_000)
    await mine(4)
  }

  /** Closes positions beyond the few that a trader keeps, because each open one is compared with the Diamond often. */
  async function closeExcess(name: string, trades: readonly { index: number }[]): Promise<void> {
    for (const { index } of trades.slice(0, -KEPT_POSITIONS)) {
      await send(name, 'closeTradeMarket', [index, 60_000n * P10])
    }
  }

  async function openTrades(name: string) {
    const { address } = world.chain.account(name)
    return world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTrades',
      args: [address],
    })
  }

  /** Mines blocks with a pause after each, in which the oracle and the keeper answer. */
  async function mine(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i += 1) {
      await world.chain.control('evm_mine')
      await sleep(15)
    }
  }

  let round = 0
  for (const depth of DEPTHS) {
    const hasNewFollower = depth % DEPTHS_PER_NEW_FOLLOWER === 0
    const witnesses = hasNewFollower ? 'the chain has and a new follower finds' : 'the chain has'
    it(`of depth ${depth}, with and without the transactions: what is stored is what ${witnesses}`, async () => {
      for (const mode of ['drop', 'remine'] as const) {
        round += 1
        await trade(round)
        await followed.caughtUp()
        const undone = followed.follower.stats().blocksUndone
        await world.chain.control('bezel_reorg', depth, mode)
        await followed.caughtUp()
        assert.ok(followed.follower.stats().blocksUndone > undone)
        await expectTradersLikeChain()
      }
      await mine(4)
      await followed.caughtUp()
      await expectTradersLikeChain()
      if (hasNewFollower) await expectLikeNewFollower()
    })
  }

  /**
   * Compares the traders with the Diamond. The local chain's own timer may add a block while the views are read; then
   * they are read again.
   */
  async function expectTradersLikeChain(): Promise<void> {
    assert.equal(followed.follower.reason(), undefined)
    for (const name of TRADERS) {
      for (;;) {
        const { hash } = followed.follower.head()!
        try {
          const { address } = world.chain.account(name)
          await expectLikeChain(followed.opened.store, world.chain, address)
          await expectBalancedBooks(followed.opened.store, world.chain, address)
          break
        } catch (error) {
          const latest = await world.chain.client.getBlock()
          if (latest.hash === hash) throw error
          await followed.caughtUp()
        }
      }
    }
  }

  /**
   * Compares the store with that of a new follower, which reads most blocks by ranges, so that both ways of following
   * are compared.
   */
  async function expectLikeNewFollower(): Promise<void> {
    const fresh = await world.follow({ finality: depthFinality(8) })
    try {
      // The local chain's own timer may add a block meanwhile.
      do await Promise.all([fresh.caughtUp(), followed.caughtUp()])
      while (fresh.follower.head()?.hash !== followed.follower.head()?.hash)
      await expectSameStores(followed.opened.store, fresh.opened.store, CHAIN)
    } finally {
      await fresh.stop()
    }
  }

  it('keep the ids of orders and positions that come back', async () => {
    const name = 'trader-4'
    const { address } = world.chain.account(name)
    await send(name, 'openTrade', [tradeOf(world.chain, address, { price: 60_000n }), 3_000, zeroAddress])
    await mine(6)
    await followed.caughtUp()
    const [first] = await ordersOf(followed.opened.store, address)
    assert.equal(first?.state?.status, 'filled')
    await world.chain.control('bezel_reorg', 8, 'remine')
    await mine(6)
    await followed.caughtUp()
    const [again] = await ordersOf(followed.opened.store, address as Address)
    assert.equal(again?.record.id, first.record.id)
    assert.equal(again.state?.fill?.positionId, first.state.fill?.positionId)
  })

  it('deeper than what is kept stop the follower, which keeps what it has', async () => {
    const shallow = await world.follow({ finality: depthFinality(4) })
    await shallow.caughtUp()
    const { number } = shallow.follower.head()!
    await world.chain.control('bezel_reorg', 10, 'drop')
    while (shallow.follower.reason() !== 'reorg_too_deep') await sleep(10)
    assert.equal(shallow.follower.head()!.number, number)
    await shallow.stop()
  })
})
