import { NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Account, Address, Hex } from '@bezel/protocol'
import { pad } from 'viem'
import { bloomOf } from '../chain/testing/bloomOf.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { NOBODY, traderOf } from './testing/accountNode.ts'
import { createAccountWorld, REFRESH_MS, type AccountWorld } from './testing/accountWorld.ts'

const ALICE = traderOf(0xa1)
const BOB = traderOf(0xb2)
const AGENT = traderOf(0xabc)
/** The number of calls per trader with three collaterals. */
const CALLS_PER_TRADER = 9
const settled = (): Promise<void> => new Promise((later) => setImmediate(later))

describe('the rounds over accounts', () => {
  let world: AccountWorld

  beforeEach(() => {
    world = createAccountWorld()
  })

  async function round(): Promise<Address[]> {
    const before = world.node.batches.length
    world.nowMs += REFRESH_MS
    await world.accounts.round()
    return world.node.batches.slice(before).flat()
  }
  const traders = (count: number): Address[] => Array.from({ length: count }, (_, i) => traderOf(1_000 + i))
  /** Returns the balances of the second collateral that were written to the log. */
  const balancesTold = (): string[] => world.told.map(({ text }) => (JSON.parse(text) as Account).balances[1]!.balance)

  it('read who is watched, until nobody does any more', async () => {
    assert.deepEqual(await round(), [])
    const first = world.accounts.watch(ALICE)
    const second = world.accounts.watch(ALICE)
    assert.deepEqual(await round(), [ALICE])
    first()
    first()
    assert.deepEqual(await round(), [ALICE])
    second()
    assert.deepEqual(await round(), [])
  })

  it('read who was active in the last minute, once, together with the delegate', async () => {
    world.node.delegate = AGENT
    world.accounts.watch(ALICE)
    world.agents.delegates.touch(ALICE)
    world.agents.delegates.touch(BOB)
    assert.deepEqual((await round()).toSorted(), [ALICE, BOB])
    assert.deepEqual(world.node.sizes, [2 * CALLS_PER_TRADER])
    world.node.delegate = NOBODY
    await round()
    assert.equal(world.agents.delegates.known(BOB), NOBODY)
    world.nowMs += 60_000
    assert.deepEqual(await round(), [ALICE])
  })

  it('look once a minute at traders who have nothing on the chain, watched or active', async () => {
    const nothing = { balance: 0n, allowance: 0n, delegate: NOBODY }
    for (const trader of traders(40)) {
      world.node.of.set(trader, nothing)
      world.accounts.watch(trader)
    }
    world.node.of.set(BOB, nothing)
    world.agents.delegates.touch(BOB)
    world.accounts.watch(ALICE)
    assert.equal((await round()).length, 42)
    const { length: before } = world.node.sizes
    for (let elapsedMs = REFRESH_MS; elapsedMs < 60_000; elapsedMs += REFRESH_MS) {
      world.agents.delegates.touch(BOB)
      assert.deepEqual(await round(), [ALICE])
    }
    assert.ok(world.node.sizes.slice(before).every((calls) => calls === CALLS_PER_TRADER))
    assert.equal((await round()).length, 42)
  })

  it('look as often as at others at a trader with an order, a delegate or a balance alone', async () => {
    const [ordering, delegating, holding, empty] = traders(4) as [Address, Address, Address, Address]
    const nothing = { balance: 0n, allowance: 0n, delegate: NOBODY }
    for (const trader of [ordering, delegating, holding, empty]) {
      world.node.of.set(trader, nothing)
      world.accounts.watch(trader)
    }
    world.ordering.add(ordering)
    world.node.of.set(delegating, { ...nothing, delegate: AGENT })
    world.node.of.set(holding, { ...nothing, balance: 1n })
    await round()
    assert.deepEqual((await round()).toSorted(), [ordering, delegating, holding].toSorted())
    world.accounts.forget(empty)
    await settled()
    assert.ok((await round()).includes(empty), 'an event of the trader wakes it up')
  })

  it('do not keep an active trader waiting for what its own transaction changed', async () => {
    world.agents.delegates.touch(ALICE)
    world.accounts.watch(BOB)
    await round()
    const before = world.node.batches.length
    world.accounts.noteSenders([ALICE, BOB, traderOf(0xc3)])
    await world.accounts.idle()
    assert.deepEqual(world.node.batches.slice(before), [[ALICE]])
    for (const trader of [ALICE, BOB]) await world.accounts.knownHoldings(trader)
    assert.deepEqual(world.node.batches.slice(before), [[ALICE], [BOB]], 'any other is read when somebody asks')
  })

  describe('with the bloom filter of a block', () => {
    const token = (): Address => world.collaterals![1]!.address
    const walletOf = (trader: Address): Hex => pad(trader) as Hex

    async function readAfter(logsBloom: Hex): Promise<Address[]> {
      const before = world.node.batches.length
      world.accounts.noteLogs(logsBloom)
      await world.accounts.idle()
      return world.node.batches.slice(before).flat()
    }

    beforeEach(async () => {
      world.agents.delegates.touch(ALICE)
      world.accounts.watch(BOB)
      await round()
    })

    it('read active and watched traders whose wallets may be in a log of a token', async () => {
      assert.deepEqual(await readAfter(bloomOf(token(), walletOf(ALICE))), [ALICE])
      assert.deepEqual(await readAfter(bloomOf(walletOf(BOB), token(), walletOf(traderOf(0xc3)))), [BOB])
      assert.deepEqual(await readAfter(bloomOf(token(), walletOf(traderOf(0xc3)))), [])
      assert.deepEqual(await readAfter(bloomOf(walletOf(ALICE), walletOf(BOB))), [], 'a log of something else')
    })

    it('read nobody too often for false alarms', async () => {
      const full = `0x${'ff'.repeat(256)}` as Hex
      const read: Address[] = []
      for (let i = 0; i < 20; i += 1) read.push(...(await readAfter(full)))
      assert.equal(read.length, 10, 'each of both five times')
      world.nowMs += 10 * REFRESH_MS
      world.agents.delegates.touch(ALICE)
      assert.equal((await readAfter(full)).length, 2)
      assert.deepEqual(await readAfter(full), [])
    })
  })

  it('cost requests nothing while they keep up', async () => {
    world.accounts.watch(ALICE)
    for (let i = 0; i < 5; i += 1) {
      assert.deepEqual(await round(), [ALICE])
      world.nowMs += REFRESH_MS - 1
      await world.accounts.accountText(ALICE)
      await world.agents.delegates.read(ALICE)
      world.nowMs -= REFRESH_MS - 1
    }
    assert.equal(world.node.batches.length, 5)
  })

  it('let a request wait for the read that is on its way', async () => {
    world.accounts.watch(ALICE)
    const slow = Promise.withResolvers<void>()
    world.node.gate = slow.promise
    const running = world.accounts.round()
    await settled()
    const text = world.accounts.accountText(ALICE)
    slow.resolve()
    await Promise.all([running, text])
    assert.equal(world.node.batches.length, 1)
  })

  it('ask in batches that nodes take', async () => {
    for (const trader of traders(60)) world.accounts.watch(trader)
    await round()
    assert.deepEqual(
      world.node.sizes.map((size) => size / CALLS_PER_TRADER),
      [11, 11, 11, 11, 11, 5],
    )
    world.collaterals = []
    await round()
    assert.deepEqual(
      world.node.sizes.slice(6).map((size) => size / 3),
      [25, 25, 10],
    )
    const [token] = chainMarkets().collaterals
    world.collaterals = Array.from({ length: 100 }, () => token!)
    world.agents.delegates.touch(ALICE)
    world.accounts.forget(ALICE)
    world.accounts.forget(traderOf(1_000))
    await world.accounts.idle()
    assert.deepEqual(world.node.sizes.slice(9), [203, 203], 'one alone that is more than that still gets its turn')
  })

  it('give everybody a turn when they are too many for one, and look at every active delegate each time', async () => {
    const all = traders(300)
    world.collaterals = []
    world.node.delegate = AGENT
    const turns = new Map(all.map((trader) => [trader, 0]))
    for (let i = 0; i < 6; i += 1) {
      for (const trader of all) world.agents.delegates.touch(trader)
      world.node.referrer += 1n
      const asked = await round()
      // Nobody is asked about twice, nor beyond his turn before he was found to have something on the chain.
      const alone = i === 0 ? 0 : 50
      assert.equal(asked.length, 250 + alone)
      if (i > 0) for (const trader of all) assert.ok(world.agents.delegates.known(trader))
      const holdings = world.node.sizes.splice(0).reduce((sum, size) => sum + size, 0) - alone
      assert.equal(holdings, 250 * 3)
      for (const { trader } of world.told.splice(0)) turns.set(trader, turns.get(trader)! + 1)
    }
    assert.deepEqual(new Set(turns.values()), new Set([5]))
  })

  it('leave everything as it is while the node is away, and go on after it', async () => {
    world.accounts.watch(ALICE)
    world.agents.delegates.touch(BOB)
    await round()
    world.told.length = 0
    for (const state of ['down', 'refusing'] as const) {
      world.node.state = state
      await round()
      assert.equal(world.agents.delegates.known(BOB), NOBODY)
      assert.deepEqual(world.told, [])
    }
    assert.ok(world.failures.every((failure) => failure instanceof NodeUnavailableError))
    assert.equal(world.accounts.stats().rounds, 1)
    world.node.state = 'up'
    world.node.balance = 6n
    await round()
    assert.deepEqual(balancesTold(), ['0.000006', '0.000006'])
    assert.deepEqual(world.accounts.stats(), { rounds: 2, watched: 2, lastRoundAtMs: world.nowMs })
  })

  it('do not ask for the others when the node does not answer', async () => {
    for (const trader of traders(60)) world.accounts.watch(trader)
    world.node.state = 'down'
    await round()
    assert.equal(world.node.batches.length, 1)
  })

  it('do not make active traders wait for a node that is away', async () => {
    await world.agents.delegates.read(ALICE)
    world.node.state = 'down'
    await round()
    await round()
    world.node.batches.length = 0
    assert.equal(await world.agents.delegates.read(ALICE), NOBODY)
    assert.deepEqual(world.node.batches, [])
  })

  it('tell the others when one account can not be read', async () => {
    const refusal = { ok: false, code: 3, message: 'no', data: undefined } as const
    world.node.of.set(BOB, { fee: () => refusal })
    world.accounts.watch(ALICE)
    world.accounts.watch(BOB)
    await round()
    assert.deepEqual(
      world.told.map(({ trader }) => trader),
      [ALICE],
    )
    // An unreadable account that is alone in its batch is not taken for an unavailable node.
    for (const trader of traders(21)) world.accounts.watch(trader)
    world.accounts.forget(BOB)
    await world.accounts.idle()
    assert.equal((await round()).length, 23)
  })

  it('look at the delegates alone before the collaterals are known', async () => {
    world.agents.delegates.touch(ALICE)
    world.collaterals = undefined
    await round()
    assert.deepEqual(world.node.sizes, [1])
    assert.equal(world.agents.delegates.known(ALICE), NOBODY)
    assert.deepEqual(world.told, [])
  })
})

describe('an account that a block touched', () => {
  let world: AccountWorld

  beforeEach(() => {
    world = createAccountWorld()
  })

  it('is read at once when it is watched or active, and else when it is asked for', async () => {
    world.accounts.forget(ALICE)
    await world.accounts.idle()
    assert.deepEqual(world.node.batches, [])
    world.accounts.watch(ALICE)
    world.agents.delegates.touch(BOB)
    world.accounts.forget(ALICE)
    world.accounts.forget(BOB)
    await world.accounts.idle()
    assert.deepEqual(world.node.batches, [[ALICE, BOB]], 'together')
    assert.equal(world.told.length, 2)
  })

  it('is read at most once more after the read on its way, however many blocks come', async () => {
    world.accounts.watch(ALICE)
    const slow = Promise.withResolvers<void>()
    world.node.gate = slow.promise
    world.accounts.forget(ALICE)
    await settled()
    for (let block = 0; block < 100; block += 1) {
      world.node.balance += 1n
      world.accounts.forget(ALICE)
      if (block % 10 === 0) await settled()
    }
    assert.equal(world.node.batches.length, 1)
    slow.resolve()
    await world.accounts.idle()
    assert.equal(world.node.batches.length, 2)
    const last = JSON.parse(world.told.at(-1)!.text) as Account
    assert.equal(last.balances[1]!.balance, '0.000105')
  })

  it('does not wait for a long round', async () => {
    const all = Array.from({ length: 100 }, (_, i) => traderOf(1_000 + i))
    for (const trader of all) world.accounts.watch(trader)
    const slow = Promise.withResolvers<void>()
    world.node.gate = slow.promise
    const round = world.accounts.round()
    await settled()
    world.accounts.forget(all.at(-1)!)
    slow.resolve()
    await round
    assert.ok(world.node.batches[1]!.includes(all.at(-1)!))
    assert.equal(world.node.batches.flat().length, 100)
  })
})
