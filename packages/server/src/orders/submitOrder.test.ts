import type { Hex, OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setMismatch } from '../store/attemptStore.ts'
import { findOrder } from '../store/orderStore.ts'
import { UNKNOWN_TIMEOUT_BLOCKS } from '../trading/orders/orderModel.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { cancelOrder } from './cancelOrder.ts'
import { runRound } from '../journal/clock.ts'
import { createOrder } from './createOrder.ts'
import { submitOrder } from './submitOrder.ts'
import { happen, hashOf, lastAttempt, placed, tradeStoredLog } from './testing/chainEvents.ts'
import {
  AGENT,
  LIMIT_BODY,
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  OTHER_TRADER,
  type OrdersWorld,
} from './testing/ordersWorld.ts'
import { updateOrder } from './updateOrder.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

const HASH = hashOf(1_000)

describe('submitOrder', () => {
  let world: OrdersWorld
  let id: string

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
    id = await create()
  })
  afterEach(() => world.remove())

  const create = async () => (await createOrder(world.orders, world.write(), LIMIT_BODY)).prepared.order.id
  const submit = (txHash: Hex = HASH, of = id) => submitOrder(world.orders, world.write(), of as never, { txHash })

  /** Makes the node know a transaction with this input. */
  function known(input: Hex, receipt?: { status: string; trade?: Partial<Trade> }): void {
    world.node.transaction = { hash: HASH, from: AGENT, to: world.orders.chain.diamond, input }
    const logs = receipt?.trade === undefined ? [] : [tradeStoredLog(world.orders.chain.diamond, receipt.trade)]
    world.node.receipt = receipt === undefined ? null : { status: receipt.status, logs }
  }

  it('takes a hash that the node does not know yet, in one round trip', async () => {
    const trips = world.node.roundTrips()
    const order = await submit()
    assert.deepEqual([order.status, order.txHash], ['pending', HASH])
    assert.equal(world.node.roundTrips() - trips, 1)
    assert.equal(world.changes.at(-1)?.after?.txHash, HASH)
    assert.deepEqual(await submit(), order)
  })

  it('takes it also while the node is away', async () => {
    world.node.isAway = true
    assert.equal((await submit()).status, 'pending')
  })

  it('takes a hash in any case for the same one', async () => {
    const order = await submit(`0x${'AB'.repeat(32)}` as Hex)
    assert.equal(order.txHash, `0x${'ab'.repeat(32)}`)
  })

  it('knows its own calldata, mined or reverted or not', async () => {
    const { calldata } = await lastAttempt(world, id)
    for (const receipt of [undefined, { status: '0x1' }, { status: '0x0' }]) {
      known(calldata, receipt)
      assert.equal((await submit()).txHash, HASH)
    }
  })

  it('does not take the calldata of one who sends it from elsewhere', async () => {
    const { calldata } = await lastAttempt(world, id)
    known(calldata, { status: '0x1' })
    world.node.transaction = { ...(world.node.transaction as object), from: OTHER_TRADER }
    await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
  })

  it('takes another transaction that made the same order, and no other', async () => {
    known('0xabcd' as Hex, { status: '0x1', trade: {} })
    assert.equal((await submit()).status, 'pending')
    for (const trade of [
      { pairIndex: 1 },
      { long: false },
      { tradeType: 2 },
      { tradeType: 0 },
      { collateralIndex: 2 },
      { leverage: 11_000 },
      { user: OTHER_TRADER },
    ]) {
      const other = await create()
      known('0xabcd' as Hex, { status: '0x1', trade })
      await assert.rejects(submit(hashOf(2_000), other), code('SUBMISSION_MISMATCH'))
      assert.equal((await lastAttempt(world, other)).submittedHash, null)
    }
  })

  it('refuses what was mined without any order, or reverted, and leaves the order as it was', async () => {
    known('0xabcd' as Hex, { status: '0x1' })
    await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
    known('0xabcd' as Hex, { status: '0x0', trade: {} })
    await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
    assert.equal((await lastAttempt(world, id)).submittedHash, null)
    // While it is not mined, it may still create the order.
    known('0xabcd' as Hex)
    assert.equal((await submit()).status, 'pending')
  })

  it('does not take one hash for two orders', async () => {
    await submit()
    const other = await create()
    await assert.rejects(submit(HASH, other), code('SUBMISSION_MISMATCH'))
    // Unless the calldata shows which order it belongs to.
    known((await lastAttempt(world, other)).calldata)
    assert.equal((await submit(HASH, other)).status, 'pending')
  })

  it('takes a hash that was reported for another order and found to be none of it', async () => {
    await submit()
    const { id: refuted } = await lastAttempt(world, id)
    await world.opened.store.transaction((sql) => setMismatch(sql, refuted))
    const other = await create()
    known('0xabcd' as Hex, { status: '0x1', trade: {} })
    assert.equal((await submit(HASH, other)).status, 'pending')
  })

  it('takes a hash that another trader reported for an order of his own', async () => {
    await world.register({ agent: OTHER_AGENT, trader: OTHER_TRADER })
    world.node.delegate = OTHER_AGENT
    const theirs = (await createOrder(world.orders, world.write(OTHER_AGENT), LIMIT_BODY)).prepared.order.id
    await submitOrder(world.orders, world.write(OTHER_AGENT), theirs as never, { txHash: HASH })
    world.node.delegate = AGENT
    assert.equal((await submit()).status, 'pending')
  })

  it('takes a new hash in place of one that was replaced or was none of it', async () => {
    await submit()
    assert.equal((await submit(hashOf(1_001))).txHash, hashOf(1_001))
    const { id: attemptId } = await lastAttempt(world, id)
    await world.opened.store.transaction((sql) => setMismatch(sql, attemptId))
    assert.equal((await submit(hashOf(1_001))).status, 'pending')
  })

  it('leaves an order alone that is on the chain', async () => {
    await placed(world, id)
    const order = await submit()
    assert.deepEqual([order.status, order.txHash], ['open', hashOf(101)])
    assert.equal((await lastAttempt(world, id)).submittedHash, null)
  })

  it('takes the hash of a change for the change', async () => {
    await placed(world, id)
    await updateOrder(world.orders, world.write(), id as never, { price: '51000' })
    assert.equal((await submit()).status, 'open')
    const attempt = await lastAttempt(world, id)
    assert.deepEqual([attempt.kind, attempt.submittedHash], ['update', HASH])
    known('0xabcd' as Hex, { status: '0x1', trade: {} })
    await assert.rejects(submit(hashOf(1_001)), code('SUBMISSION_MISMATCH'))
  })

  it('is accepted for an order that has expired, which the chain may revive', async () => {
    world.market.nowMs += 300_000
    const order = await submit()
    assert.deepEqual([order.status, order.txHash], ['expired', HASH])
    await happen(world, id, { kind: 'reverted', txHash: HASH, logIndex: -1 })
  })

  it('leaves a timed-out order alone while the timeout is not known, and so do the rounds of the clock', async () => {
    const market = (await createOrder(world.orders, world.write(), MARKET_BODY)).prepared.order.id as OrderId
    await happen(world, market, { kind: 'requested', pendingIndex: 3, tradeIndex: 0 }, 'pending:3')
    const stateNow = async () => (await findOrder(world.opened.store.read, market))?.state
    const pending = await stateNow()
    world.headBlock += 500
    const clock = () => ({ ...world.orders.clock(), timeoutBlocks: UNKNOWN_TIMEOUT_BLOCKS })
    const { chain, store, accountLog } = world.orders
    const round = { chain: chain.slug, store, accountLog, onError: () => {} }
    await runRound({ ...round, clock })
    assert.deepEqual(await stateNow(), pending)
    await runRound({ ...round, clock: world.orders.clock })
    await cancelOrder(world.orders, world.write(), market)
    const early = submitOrder({ ...world.orders, clock }, world.write(), market, { txHash: HASH })
    await assert.rejects(early, code('NOT_READY'))
    assert.equal((await stateNow())?.status, 'timed_out')
    assert.equal((await submit(HASH, market)).status, 'timed_out')
  })

  it('is for the trader\u2019s own orders, by its delegate', async () => {
    await assert.rejects(submit(HASH, '99'), code('ORDER_NOT_FOUND'))
    await world.register({ agent: OTHER_AGENT, trader: OTHER_TRADER })
    world.node.delegate = OTHER_AGENT
    const strange = submitOrder(world.orders, world.write(OTHER_AGENT), id as never, { txHash: HASH })
    await assert.rejects(strange, code('ORDER_NOT_FOUND'))
    await assert.rejects(submit(), code('AGENT_NOT_DELEGATED'))
    world.node.isAway = true
    await assert.rejects(submit(), code('AGENT_NOT_DELEGATED'))
  })

  it('takes the word of no node that talks nonsense', async () => {
    for (const nonsense of [17, { from: 'x' }, { from: AGENT, to: null, input: 'no' }]) {
      world.node.transaction = nonsense
      assert.equal((await submit()).status, 'pending')
    }
  })
})
