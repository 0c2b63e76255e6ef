import type { Hex, Order } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { depthFinality } from '../../chain/finality.ts'
import { listEvents } from '../../store/accountEventStore.ts'
import { listLiveOrders } from '../../store/orderStore.ts'
import { createRelaying, type Relaying } from '../relayer/createRelaying.ts'
import { defaultRelayerSettings } from '../relayer/relayerSettings.ts'
import { createFakeRelayNode, type FakeRelayNode } from '../relayer/testing/fakeRelayNode.ts'
import { FINAL_BLOCKS, testKey } from '../relayer/testing/relayWorld.ts'
import {
  openExchangeWorld,
  orderAction,
  orderItem,
  statusesOf,
  TRADER,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { keepRelayedHashes } from './relayedHashes.ts'
import { refuseInserts } from '../../store/testing/refuseInserts.ts'

const CLOID = `0x${'c1'.repeat(16)}`

describe('an order and the relayer of a process that dies', () => {
  let world: ExchangeWorld
  let node: FakeRelayNode
  let relaying: Relaying

  /** Starts a relayer over the world's store that is never asked to send: its process dies before. */
  function startRelaying(): void {
    const { chain } = world.parts.orders
    relaying = createRelaying({
      chain,
      sender: { chain: chain.slug, sender: testKey.address },
      signer: testKey.signerOf(chain),
      client: node.client,
      store: world.base.opened.store,
      settings: defaultRelayerSettings(chain.slug),
      now: () => world.base.market.nowMs,
      log: { info: () => {}, warn: () => {}, error: () => {} } as never,
      head: () => node.headBlock(),
      finality: depthFinality(FINAL_BLOCKS),
      onHashes: (sql, hashes) => keepRelayedHashes(world.parts.orders, sql, hashes),
    })
    const { enqueue, isOnItsWay, onFailed } = relaying
    const own = { address: testKey.address, broadcast: async () => {}, burnRevoked: async () => [] }
    const relayer = { ...own, enqueue, isOnItsWay, onFailed }
    world.parts = { ...world.parts, relayer }
  }

  beforeEach(async () => {
    world = await openExchangeWorld()
    world.base.node.delegate = testKey.address
    node = createFakeRelayNode(testKey.address)
    startRelaying()
    await relaying.step()
  })
  afterEach(() => world.remove())

  const hashIn = (status: unknown): Hex => (status as { pending: { txHash: Hex } }).pending.txHash

  it('are sent by the next process, once', async () => {
    const action = orderAction(orderItem({ c: CLOID }))
    const [status] = statusesOf(await world.send(action))
    assert.equal(node.received.length, 0)
    await world.restart()
    startRelaying()
    const [again] = statusesOf(await world.send(action))
    assert.deepEqual(again, status)
    for (let step = 0; step < 5; step += 1) await relaying.step()
    assert.deepEqual([...new Set(node.received.map(({ hash }) => hash))], [hashIn(status)])
    assert.equal((await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)).length, 1)
  })

  it('name the version that was sent last, also in the log', async () => {
    const [status] = statusesOf(await world.send(orderAction(orderItem({ c: CLOID }))))
    for (let step = 0; step < 3; step += 1) await relaying.step()
    node.baseFeeWei *= 4n
    world.base.market.nowMs += 3_000
    for (let step = 0; step < 3; step += 1) await relaying.step()
    const { hash } = node.received.at(-1)!
    assert.notEqual(hash, hashIn(status))
    const [order] = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
    assert.equal(order!.state!.txHash, hash)
    const events = await listEvents(
      world.parts.store.read,
      { chain: 'arbitrum', trader: TRADER },
      { after: 0, limit: 9 },
    )
    assert.equal((JSON.parse(events.at(-1)!.data) as Order).txHash, hash)
  })

  it('are neither kept when the transaction of the store fails', async () => {
    const { store } = world.parts
    await refuseInserts(store, 'facade_cloids')
    await assert.rejects(world.send(orderAction(orderItem({ c: CLOID }))))
    assert.equal((await listLiveOrders(store.read, 'arbitrum', TRADER)).length, 0)
    assert.equal((await store.read.all('select 1 from relay_entries')).length, 0)
  })

  it('leave the envelope free when nothing of it was kept, and used up when something was', async () => {
    const nonce = world.base.market.nowMs + 500
    const action = orderAction(orderItem())
    const allow = await refuseInserts(world.parts.store, 'facade_nonces')
    await assert.rejects(world.send(action, { nonce }))
    await allow()
    await world.restart()
    startRelaying()
    await relaying.step()
    assert.equal(statusesOf(await world.send(action, { nonce })).length, 1)
    await world.restart()
    assert.match((await world.send(action, { nonce })).response as string, /^Invalid nonce: .* already used/)
    assert.equal((await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)).length, 1)
  })

  it('leave an envelope used up that was refused', async () => {
    const nonce = world.base.market.nowMs + 500
    const [status] = statusesOf(await world.send(orderAction(orderItem({ s: '0' })), { nonce }))
    assert.deepEqual(Object.keys(status as object), ['error'])
    await world.restart()
    assert.match((await world.send(orderAction(orderItem()), { nonce })).response as string, /already used/)
  })
})
