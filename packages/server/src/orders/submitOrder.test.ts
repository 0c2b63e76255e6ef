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
import { TEST_SCOPE } from '../store/testing/testScope.ts'

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
  function known(input: Hex, receipt?: { status: string; blockHash?: Hex; trade?: Partial<Trade> }): void {
    world.node.transaction = { hash: HASH, from: AGENT, to: world.orders.chain.diamond, input }
    const logs = receipt?.trade === undefined ? [] : [tradeStoredLog(world.orders.chain.diamond, receipt.trade)]
    world.node.receipt = receipt === undefined ? null : { blockHash: hashOf(7), ...receipt, logs }
  }

  /** Lets time pass, and the clock of the service do its rounds. */
  async function pass(ms: number): Promise<void> {
    world.market.nowMs += ms
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
    const { chain, store, accountLog, clock } = world.orders
    await runRound({ chain: chain.slug, store, accountLog, clock, onError: () => {} })
  }

  const told = () => world.changes.map(({ after }) => [after?.status, after?.txHash])

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
    await world.opened.store.transaction(TEST_SCOPE, (sql) => setMismatch(sql, refuted, id as never))
    const other = await create()
    known('0xabcd' as Hex, { status: '0x1', trade: {} })
    assert.equal((await submit(HASH, other)).status, 'pending')
  })

  it('refuses at once what was prepared for another order, sent or mined, and leaves both as they were', async () => {
    const other = await create()
    const before = await findOrder(world.opened.store.read, id as OrderId)
    for (const receipt of [undefined, { status: '0x1', trade: {} }, { status: '0x0' }]) {
      known((await lastAttempt(world, other)).calldata, receipt)
      await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
    }
    // The eight bytes tell, whatever stands before them, and whoever's order it is.
    known(`0xabcd${(await lastAttempt(world, other)).id.slice(2)}` as Hex)
    await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
    assert.deepEqual(await findOrder(world.opened.store.read, id as OrderId), before)
    assert.equal((await lastAttempt(world, id)).submittedHash, null)
  })

  it('refuses at once what was mined as another order, also without the eight bytes', async () => {
    const other = await create()
    await placed(world, other)
    const blockHash = hashOf(world.headBlock)
    known('0xabcd' as Hex, { status: '0x1', blockHash, trade: {} })
    await assert.rejects(submit(hashOf(world.headBlock)), code('SUBMISSION_MISMATCH'))
    // An order that is on the chain takes no other order's hash either.
    await placed(world, id)
    await assert.rejects(submit(blockHash), code('SUBMISSION_MISMATCH'))
    assert.equal((await submit(hashOf(world.headBlock), id)).status, 'open')
  })

  it('refuses what is not mined and comes from another sender, or goes elsewhere', async () => {
    const { calldata } = await lastAttempt(world, id)
    for (const change of [{ from: OTHER_TRADER }, { to: OTHER_TRADER }, { to: null }]) {
      for (const input of [calldata, '0xabcd' as Hex]) {
        known(input)
        world.node.transaction = { ...(world.node.transaction as object), ...change }
        await assert.rejects(submit(), code('SUBMISSION_MISMATCH'))
      }
    }
    assert.equal((await lastAttempt(world, id)).submittedHash, null)
    // Once it is mined, the chain shows that it created the order.
    world.node.receipt = { status: '0x1', blockHash: hashOf(7), logs: [tradeStoredLog(world.orders.chain.diamond, {})] }
    assert.equal((await submit()).status, 'pending')
  })

  it('gives up a hash that no node knows after ten seconds, shows it, and tells so', async () => {
    const sent = await submit()
    await pass(9_999)
    assert.equal(world.changes.at(-1)?.after?.status, 'pending')
    await pass(1)
    assert.deepEqual(told().slice(-2), [
      ['pending', HASH],
      ['prepared', HASH],
    ])
    const again = await submit()
    assert.deepEqual(again, { ...sent, status: 'prepared', updatedAt: world.market.nowMs })
    await pass(300_000)
    assert.deepEqual(told().at(-1), ['expired', HASH])
  })

  it('trusts a hash that the node knew for as long as the transaction is valid', async () => {
    known((await lastAttempt(world, id)).calldata)
    await submit()
    await pass(299_999)
    assert.deepEqual(told().at(-1), ['pending', HASH])
    await pass(1)
    assert.deepEqual(told().at(-1), ['expired', HASH])
  })

  it('believes a hash again that the node knows when it is reported once more', async () => {
    const first = await submit()
    known((await lastAttempt(world, id)).calldata)
    assert.deepEqual(await submit(), first)
    await pass(20_000)
    assert.deepEqual(told().at(-1), ['pending', HASH])
    const other = await create()
    world.node.transaction = null
    await submit(hashOf(5), other)
    await pass(10_000)
    assert.deepEqual(told().at(-1), ['prepared', hashOf(5)])
    known((await lastAttempt(world, other)).calldata)
    const seen = await submit(hashOf(5), other)
    assert.deepEqual([seen.status, seen.updatedAt], ['pending', world.market.nowMs])
  })

  it('lets a mistyped hash be corrected, before and after it was given up', async () => {
    await submit()
    assert.deepEqual(told().at(-1), ['pending', HASH])
    assert.equal((await submit(hashOf(1_001))).txHash, hashOf(1_001))
    await pass(10_000)
    const corrected = await submit(hashOf(1_002))
    assert.deepEqual([corrected.status, corrected.txHash], ['pending', hashOf(1_002)])
    // The hash that was mistyped is free for the order that it belongs to.
    const other = await create()
    assert.equal((await submit(HASH, other)).status, 'pending')
  })

  it('lets an order be ended whose hash no node knows, and not one that may be on its way', async () => {
    await submit()
    await assert.rejects(cancelOrder(world.orders, world.write(), id as OrderId), code('ORDER_NOT_MODIFIABLE'))
    await pass(10_000)
    const { order, transaction } = await cancelOrder(world.orders, world.write(), id as OrderId)
    assert.deepEqual([order.status, order.txHash, transaction], ['expired', HASH, null])
    await placed(world, id)
    assert.equal((await findOrder(world.opened.store.read, id as OrderId))?.state?.status, 'open')
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
    await world.opened.store.transaction(TEST_SCOPE, (sql) => setMismatch(sql, attemptId, id as never))
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
    await updateOrder(world.orders, world.write(), id as never, { slippage: '2' })
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
