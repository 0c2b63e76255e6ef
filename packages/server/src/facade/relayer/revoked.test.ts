import { NodeUnavailableError } from '../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { saveAgent } from '../../store/agentStore.ts'
import { readRelayedGasWei } from '../../store/relayGasStore.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { leave, fillOrder, placeOrder } from './testing/relayedOrders.ts'
import {
  attemptOf,
  CHAIN,
  FINAL_BLOCKS,
  openRelayWorld,
  OTHER_TRADER,
  ownAgent,
  START_MS,
  TRADER,
  type RelayWorld,
} from './testing/relayWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

describe('the entries of a revoked agent', () => {
  let world: RelayWorld

  beforeEach(async () => {
    world = await openRelayWorld()
    await world.settle()
  })
  afterEach(() => world.close())

  const far = (trader?: Address): ReturnType<typeof attemptOf> =>
    attemptOf({ expiresAtMs: world.nowMs + 600_000, ...(trader && { trader }) })
  /** Counts the mined actions; those that were sent from elsewhere have one byte. */
  const actions = (): number => world.node.minedTransactions().filter(({ data }) => data.length > 4).length

  async function change(changes: Partial<AgentRecord>): Promise<void> {
    const record = { ...ownAgent(CHAIN.slug, TRADER), ...changes }
    await world.opened.store.transaction(TEST_SCOPE, (sql) => saveAgent(sql, record))
  }

  it('that were never sent become burns, and their bytes never leave', async () => {
    await world.enqueue(far())
    await world.enqueue(far())
    const other = await world.enqueue(far(OTHER_TRADER), OTHER_TRADER)
    await change({ revoked: true })
    const { mayBeMined, burns } = await world.relaying.burnRevoked(TRADER)
    assert.deepEqual([mayBeMined, burns.length], [[], 2])
    await world.pass(FINAL_BLOCKS + 2)
    const mined = world.node.minedTransactions()
    assert.deepEqual([mined.length, actions(), mined[2]!.hash], [3, 1, other])
    assert.deepEqual(
      world.node.received.filter(({ data }) => data.length > 2).map(({ hash }) => hash),
      [other],
    )
    assert.equal(world.relaying.health().counts.burnt, 2)
  })

  it('that were sent are outbid by burns, and the answer names them', async () => {
    const orderId = await placeOrder(world)
    await world.settle()
    const sent = world.node.mempool.get(0)!
    await world.enqueue(far())
    await change({ revoked: true })
    const { mayBeMined, burns } = await world.relaying.burnRevoked(TRADER)
    assert.deepEqual(mayBeMined, [{ txHash: sent.hash, orderId }])
    await world.settle()
    assert.deepEqual(
      [...world.node.mempool.values()].map(({ hash }) => hash),
      burns,
    )
    assert.ok(world.node.mempool.get(0)!.maxFeeWei > sent.maxFeeWei)
    await world.pass(1)
    assert.equal(actions(), 0)
    // A second revocation finds nothing more to burn.
    assert.deepEqual(await world.relaying.burnRevoked(TRADER), { mayBeMined: [], burns: [] })
  })

  it('are burnt while the node is away, and at any moment of a step', async () => {
    await world.enqueue(far())
    world.node.before = () => {
      throw new NodeUnavailableError('away')
    }
    await assert.rejects(world.relaying.step(), NodeUnavailableError)
    world.node.before = undefined
    await world.enqueue(far())
    await change({ revoked: true })
    // The revocation comes while a step reads the store: what it read is not sent any more.
    const step = world.relaying.step()
    const { burns } = await world.relaying.burnRevoked(TRADER)
    await step.catch(() => undefined)
    await world.settle()
    assert.equal(burns.length, 2)
    await world.pass(2)
    assert.equal(actions(), 0)
  })

  it('leave only when the answer names them, at whatever moment of a step they are burnt', async () => {
    const sentActions = (): Set<string> =>
      new Set(world.node.received.filter(({ data }) => data.length > 2).map(({ hash }) => hash))
    for (let turns = 0; turns < 40; turns += 1) {
      const before = sentActions()
      const hashes = [await world.enqueue(far()), await world.enqueue(far())]
      await change({ revoked: true })
      const step = world.relaying.step()
      for (let i = 0; i < turns; i += 1) await Promise.resolve()
      const { mayBeMined } = await world.relaying.burnRevoked(TRADER)
      const named = mayBeMined.map(({ txHash }) => txHash)
      await step.catch(() => undefined)
      await world.pass(1)
      const left = hashes.filter((hash) => sentActions().has(hash) && !before.has(hash))
      assert.deepEqual(
        left.filter((hash) => !named.includes(hash)),
        [],
        `burnt after ${turns} turns`,
      )
      await change({})
    }
  })

  it('stay burnt when a reorganisation drops what was mined', async () => {
    await world.enqueue(far())
    await world.pass(1)
    assert.equal(actions(), 1)
    await change({ revoked: true })
    const { mayBeMined } = await world.relaying.burnRevoked(TRADER)
    assert.deepEqual(mayBeMined, [])
    await world.settle()
    const counted = await readRelayedGasWei(world.opened.store.read, CHAIN.slug, utcDayOf(START_MS), TRADER)
    assert.equal(counted, 20_000n * world.node.minedTransactions()[0]!.maxFeeWei)
    world.node.reorg(2, 'drop')
    await world.settle()
    await world.pass(1)
    assert.deepEqual([actions(), world.node.used()], [0, 1])
  })

  it('are burnt at the next start when the process ended before it could', async () => {
    await world.enqueue(far())
    await change({ revoked: true })
    world.restart()
    await world.pass(1)
    assert.deepEqual([actions(), world.node.used()], [0, 1])
  })

  it('stay burnt when somebody else uses their nonce', async () => {
    await world.enqueue(far())
    await change({ revoked: true })
    assert.equal((await world.relaying.burnRevoked(TRADER)).burns.length, 1)
    world.node.useElsewhere()
    // The agent is authorised anew, which brings nothing back that was burnt before.
    await change({})
    await world.pass(FINAL_BLOCKS + 6, 2_000)
    assert.deepEqual([world.relaying.health().counts.lost, actions(), world.node.used()], [1, 0, 1])
  })

  it('are not sent again when somebody else used their nonce, burnt or not', async () => {
    await world.enqueue(far())
    await world.settle()
    world.node.mempool.clear()
    world.node.useElsewhere()
    await change({ revoked: true })
    await world.pass(FINAL_BLOCKS + 6, 2_000)
    assert.deepEqual([world.relaying.health().counts.lost, actions(), world.node.used()], [1, 0, 1])
  })

  it('are named with every version that may be mined', async () => {
    const orderId = await placeOrder(world)
    await world.settle()
    const first = world.node.mempool.get(0)!
    world.nowMs += 10_000
    await world.settle()
    const second = world.node.mempool.get(0)!
    assert.notEqual(second.hash, first.hash)
    await change({ revoked: true })
    const { mayBeMined } = await world.relaying.burnRevoked(TRADER)
    assert.deepEqual(mayBeMined, [
      { txHash: first.hash, orderId },
      { txHash: second.hash, orderId },
    ])
  })

  it('are not re-priced but burnt, also when the agent has expired or serves another trader', async () => {
    const scope = { ...ownAgent(CHAIN.slug, TRADER).scope, expiresAt: START_MS + 5_000 }
    for (const changes of [{ revoked: true }, { scope }, { trader: OTHER_TRADER }] as const) {
      const used = world.node.used()
      await change({})
      await world.enqueue(far())
      await world.settle()
      await change(changes)
      world.nowMs += 10_000
      await world.settle()
      assert.equal(world.node.mempool.get(used)!.data, '0x')
      await world.pass(1)
    }
    assert.equal(actions(), 0)
  })

  it('give back what they had taken of what is set aside', async () => {
    const orderId = await placeOrder(world)
    await world.pass(1)
    const id = await fillOrder(world, orderId)
    const used = (): Promise<bigint> =>
      readRelayedGasWei(world.opened.store.read, CHAIN.slug, utcDayOf(START_MS), TRADER)
    const before = await used()
    await leave(world, id)
    await change({ revoked: true })
    await world.relaying.burnRevoked(TRADER)
    await world.pass(2)
    assert.equal(await used(), before)
    await change({})
    await leave(world, id)
  })
})
