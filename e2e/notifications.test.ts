import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import type { Notification, NotificationType, SigningDomain } from '@bezel/protocol'
import { zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  authorization,
  call,
  UNLIMITED_SCOPE,
  keyIssue,
  send,
  signedHeaders,
  type Answer,
} from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const HOUR_MS = 3_600_000

describe('notifications, as a wallet sees them', () => {
  let world: TradingWorld
  let client: TradingClient
  let domain: SigningDomain

  before(async () => {
    world = await startTradingWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    domain = (await call(world.url(), CHAIN)).body.signing.domain
  })
  after(() => world?.stop())

  async function list(address: string = client.trader.address): Promise<Notification[]> {
    const answer = await call(world.url(), `/api/notifications/${address}`)
    assert.deepEqual([answer.status, answer.body.success], [200, true], JSON.stringify(answer.body))
    return answer.body.notifications
  }

  async function once(
    type: NotificationType,
    isMeant: (notification: Notification) => boolean = () => true,
    address?: string,
  ): Promise<Notification> {
    let listed: readonly Notification[] = []
    const missing = (): string => `${type} among ${JSON.stringify(listed)}`
    return until(missing, async () => {
      listed = await list(address)
      return listed.find((notification) => notification.type === type && isMeant(notification))
    })
  }

  async function untilGone(type: NotificationType, address?: string): Promise<void> {
    await until(`the end of ${type}`, async () => (await list(address)).every((found) => found.type !== type))
  }

  /** Returns the types of the notices of one order. */
  const typesOf = async (orderId: string) =>
    (await list()).filter((found) => found.orderId === orderId).map(({ type }) => type)

  async function dismiss(id: number, by: PrivateKeyAccount, address: string = client.trader.address): Promise<Answer> {
    const path = `/api/notifications/${address}/dismiss`
    const body = JSON.stringify({ notificationId: id })
    const signed = await signedHeaders(domain, by, { operation: 'dismissNotification', method: 'POST', path, body })
    return call(world.url(), path, { method: 'POST', headers: { ...signed, 'content-type': 'application/json' }, body })
  }

  async function closeAll(): Promise<void> {
    for (const position of (await client.account('/positions', 'listPositions')).body.data) {
      const { body } = await client.request('closePosition', 'POST', `/positions/${position.id}/close`, {})
      await client.broadcast(body.transaction)
      await client.orderOnce(body.order.id, ({ status }) => status === 'filled')
    }
  }

  it('tell that an order was filled, once, together with the order itself', async () => {
    const filled = await client.trade(MARKET, 'filled')
    const { positionId, size, price } = filled.fill!
    const rounded = (text: string, places: number): number => Number(Number(text).toFixed(places))
    const [notification, ...others] = (await list()).filter(({ orderId }) => orderId === filled.id)
    assert.equal(others.length, 0)
    assert.deepEqual(notification, {
      id: notification!.id,
      type: 'order_filled',
      severity: 'info',
      title: 'Order filled',
      message: `Opened a long of ${rounded(size, 8)} BTC/USD at ${rounded(price, 6)} on arbitrum-sepolia.`,
      market: 'BTC/USD',
      orderId: filled.id,
      positionId,
      link: `${CHAIN}/orders/${filled.id}`,
      createdAt: notification!.createdAt,
      expiresAt: notification!.createdAt + 7 * 24 * HOUR_MS,
    })
    await closeAll()
    const [close] = await list()
    assert.match(close!.message, /^Closed a long of 0\.0\d+ BTC\/USD at \d/)
  })

  it('tell a rejection with its reason in words', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare({ ...MARKET, slippage: '0.1' })
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'pending')
    await world.setPrice(60_500)
    await world.chain.control('bezel_pauseOracle', false)
    const rejected = await once('order_rejected', ({ orderId }) => orderId === order.id)
    assert.match(rejected.message, /was rejected: the price moved by more than the 0\.1 % of slippage it allowed\./)
    await world.setPrice(60_000)
  })

  it('tell a timeout and what to do about it, and no more once that is done', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare(MARKET)
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'pending')
    await world.chain.control('hardhat_mine', 200)
    const late = await once('order_timed_out', ({ orderId }) => orderId === order.id)
    // Calls the address that the message names.
    const [, method, path] = /call (DELETE) (\S+)/.exec(late.message)!
    const reclaim = await client.request('cancelOrder', method!, path!.slice(CHAIN.length))
    assert.equal(reclaim.status, 200, JSON.stringify(reclaim.body))
    await client.broadcast(reclaim.body.transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'canceled')
    assert.deepEqual(await typesOf(order.id), [])
    await world.chain.control('bezel_pauseOracle', false)
  })

  it('turn from a timeout to a fill when the oracles answer late', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare(MARKET)
    await client.broadcast(transaction)
    await world.chain.control('hardhat_mine', 200)
    await once('order_timed_out', ({ orderId }) => orderId === order.id)
    await world.chain.control('bezel_pauseOracle', false)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
    assert.deepEqual(await typesOf(order.id), ['order_filled'])
    await closeAll()
  })

  it('tell take profit, stop loss and liquidation, each by one', async () => {
    const taken = await client.trade({ ...MARKET, tp: '61000' }, 'filled')
    const stopped = await client.trade({ ...MARKET, sl: '59500' }, 'filled')
    const liquidated = await client.trade({ ...MARKET, leverage: '50' }, 'filled')
    const of = (order: typeof taken) => (notification: Notification) =>
      notification.positionId === order.fill!.positionId && notification.orderId !== order.id
    const steps = [
      [61_100, 'take_profit_hit', taken, 'info', /closed by its take profit at 6\d{4}/],
      [59_400, 'stop_loss_hit', stopped, 'warning', /closed by its stop loss at 5\d{4}/],
      [58_000, 'position_liquidated', liquidated, 'critical', /was liquidated at 5\d{4}/],
    ] as const
    for (const [price, type, order, severity, text] of steps) {
      await world.setPrice(price)
      const told = await once(type, of(order))
      assert.equal(told.severity, severity)
      assert.match(told.message, text)
      assert.equal((await list()).filter(of(order)).length, 1, 'one, not two')
    }
    await world.setPrice(60_000)
  })

  it('are taken back with a block, and come again under the same id', async () => {
    const { order, transaction } = await client.prepare(MARKET)
    const hash = await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
    const { id } = await once('order_filled', ({ orderId }) => orderId === order.id)
    const { blockNumber } = await world.chain.client.getTransactionReceipt({ hash })
    await world.chain.control('bezel_reorgFrom', Number(blockNumber), 'drop')
    await client.orderOnce(order.id, ({ status }) => status !== 'filled')
    assert.deepEqual(await typesOf(order.id), [])

    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
    assert.equal((await once('order_filled', ({ orderId }) => orderId === order.id)).id, id)
    await closeAll()
  })

  it('are dismissed by an agent or a key of the wallet, and by nobody else', async () => {
    const { id } = (await list())[0]!
    const stranger = world.chain.account('agent-5')
    assert.equal((await dismiss(id, stranger)).status, 401)
    const other = await world.clientOf('trader-2', 'agent-2')
    assert.equal((await dismiss(id, other.agent)).status, 401)
    const foreign = await dismiss(id, other.agent, other.trader.address)
    assert.deepEqual([foreign.status, foreign.body.success], [400, false], 'the id of another wallet')
    assert.ok((await list()).some((notification) => notification.id === id))
    assert.deepEqual((await dismiss(id, client.agent)).body, { success: true })
    assert.ok(!(await list()).some((notification) => notification.id === id))

    const next = (await list())[0]!.id
    const { body } = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, client.trader, 'n'))
    const byKey = await call(world.url(), `/api/notifications/${client.trader.address}/dismiss`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-api-key': body.apiKey },
      body: JSON.stringify({ notificationId: next }),
    })
    assert.deepEqual([byKey.status, byKey.body], [200, { success: true }])
    const known = (await list()).map((notification) => notification.id)
    await world.crash()
    assert.deepEqual(
      (await list()).map((notification) => notification.id),
      known,
      'a crash forgets neither',
    )
    assert.ok(!known.includes(id) && !known.includes(next))
  })

  it('tell that an agent is about to expire, that it did, and no more when it is authorised again', async () => {
    const [trader, agent] = [world.chain.account('trader-3'), world.chain.account('agent-3')]
    const register = async (expiresAt: number | null): Promise<number> => {
      const body = await authorization(domain, trader, agent, { scope: { ...UNLIMITED_SCOPE, expiresAt } })
      return (await send(world.url(), 'POST', `${CHAIN}/agents`, body)).status
    }
    // Only the expiry of an agent that was in force is told.
    const inForce = await world.clientOf('trader-3', 'agent-3')
    assert.equal((await inForce.account('', 'getAccount')).status, 200)
    const expiresAt = Date.now() + HOUR_MS
    assert.equal(await register(expiresAt), 201)
    const soon = await once('agent_expiring', undefined, trader.address)
    assert.equal(soon.expiresAt, expiresAt)
    // On a busy machine the request may arrive after the expiry, which is refused.
    await until('an expiry that is near', async () => (await register(Date.now() + 2_000)) === 201)
    await once('agent_expired', undefined, trader.address)
    assert.equal(await register(null), 201)
    await untilGone('agent_expired', trader.address)
    assert.deepEqual(
      (await list(trader.address)).map(({ type }) => type),
      ['agent_added'],
    )
  })

  it('tell that a delegation was replaced or removed, also while the service was down', async () => {
    const other = await world.clientOf('trader-4', 'agent-4')
    const { address } = other.trader
    assert.equal((await other.account('', 'getAccount')).status, 200)
    // The watch must see the delegation once before it can notice that it is gone. The store keeps what it saw.
    const store = new DatabaseSync(join(world.devnet.folder, 'bezel.db'), { readOnly: true })
    const kept = store.prepare('select 1 from seen_delegations where trader = ? collate nocase')
    await until('the watch has seen the delegation', () => kept.get(address))
    store.close()
    await world.chain.send(other.trader, 'setTradingDelegate', [world.chain.account('agent-5').address])
    const replaced = await once('delegation_replaced', undefined, address)
    assert.ok(replaced.message.includes(world.chain.account('agent-5').address))

    await world.chain.send(other.trader, 'setTradingDelegate', [other.agent.address])
    assert.equal((await other.account('', 'getAccount')).status, 200)
    await untilGone('delegation_replaced', address)

    await world.stopService()
    await world.chain.send(other.trader, 'removeTradingDelegate', [])
    await world.startService()
    const removed = await once('delegation_removed', undefined, address)
    assert.equal(removed.severity, 'warning')
  })

  it('tell everybody that a chain is paused, for as long as it is', async () => {
    const deployer = world.chain.account('deployer')
    await world.chain.send(deployer, 'updateTradingActivated', [2])
    const paused = await once('chain_paused', undefined, zeroAddress)
    assert.deepEqual([paused.severity, paused.expiresAt], ['critical', null])
    assert.equal((await once('chain_paused')).id, paused.id, 'one for all')
    assert.equal((await dismiss(paused.id, client.agent)).status, 200)
    assert.ok(!(await list()).some(({ id }) => id === paused.id))
    assert.ok((await list(zeroAddress)).some(({ id }) => id === paused.id))
    await world.chain.send(deployer, 'updateTradingActivated', [1])
    await once('chain_close_only')
    await untilGone('chain_paused', zeroAddress)
    await world.chain.send(deployer, 'updateTradingActivated', [0])
    await untilGone('chain_close_only')
  })

  it('of what is no address are refused in a shape of their own', async () => {
    const { status, body } = await call(world.url(), '/api/notifications/somebody')
    assert.deepEqual([status, body.success, body.error], [400, false, 'VALIDATION_ERROR'])
  })
})
