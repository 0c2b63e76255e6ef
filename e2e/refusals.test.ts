import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import type { AgentScope, Order, SigningDomain } from '@bezel/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  call,
  freshNonce,
  UNLIMITED_SCOPE,
  keyIssue,
  revocation,
  send,
  signedHeaders,
} from '@bezel/testkit/agentClient.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT = { ...MARKET, type: 'limit', price: '50000' }

describe('what the service refuses', () => {
  let world: TradingWorld
  let domain: SigningDomain

  before(async () => {
    world = await startTradingWorld({ service: { BEZEL_PREPARED_MARKET_MS: '1500', BEZEL_MAX_PREPARED_ORDERS: '4' } })
    domain = (await call(world.url(), CHAIN)).body.signing.domain
  })
  after(() => world?.stop())

  const create = (client: TradingClient, body: unknown) => client.request('createOrder', 'POST', '/orders', body)
  const history = async (client: TradingClient): Promise<Order[]> =>
    (await client.account('/orders/history', 'listOrderHistory')).body.data

  async function scoped(trader: string, agent: string, scope: Partial<AgentScope>): Promise<TradingClient> {
    return world.clientOf(trader, agent, { ...UNLIMITED_SCOPE, ...scope })
  }

  it('what the scope forbids, in the order of the interface, and prepares nothing', async () => {
    const reader = await scoped('trader-1', 'agent-1', { permissions: 'read', markets: ['ETH/USD'] })
    assert.equal((await create(reader, MARKET)).body.code, 'SCOPE_READ_ONLY')
    const narrow = await scoped('trader-1', 'agent-1', { markets: ['ETH/USD'], maxLeverage: '5' })
    assert.equal((await create(narrow, MARKET)).body.code, 'SCOPE_MARKET_NOT_ALLOWED')
    const careful = await scoped('trader-1', 'agent-1', { maxLeverage: '5', dailySpendCapUsd: '10' })
    assert.equal((await create(careful, MARKET)).body.code, 'SCOPE_LEVERAGE_EXCEEDED')
    const poor = await scoped('trader-1', 'agent-1', { dailySpendCapUsd: '1000' })
    const refused = await create(poor, MARKET)
    assert.deepEqual([refused.status, refused.body.code], [403, 'SCOPE_SPEND_CAP_EXCEEDED'])
    assert.deepEqual(await history(poor), [])
  })

  it('what passes the daily cap, also when many ask at once, and counts no order that ended unfilled', async () => {
    const client = await scoped('trader-2', 'agent-2', { dailySpendCapUsd: '3000' })
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(client, { ...LIMIT, price: '55000' })))
    // An order of 0.02 at 55,000 is worth 1,100 USD: two fit under 3,000.
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 201, 403, 403, 403])
    const [made] = answers.filter(({ status }) => status === 201)
    await client.request('cancelOrder', 'DELETE', `/orders/${made!.body.order.id}`)
    assert.equal((await create(client, { ...LIMIT, price: '55000' })).status, 201)
    assert.equal((await create(client, { ...LIMIT, price: '55000' })).status, 403)
  })

  it('more prepared orders than the limit', async () => {
    const client = await scoped('trader-3', 'agent-3', {})
    const made = await Promise.all(Array.from({ length: 4 }, () => create(client, LIMIT)))
    assert.deepEqual(
      made.map(({ status }) => status),
      [201, 201, 201, 201],
    )
    const refused = await create(client, LIMIT)
    assert.deepEqual([refused.status, refused.body.code], [409, 'TOO_MANY_PREPARED_ORDERS'])
    assert.deepEqual(ownDetails(refused.body.details), { limit: 4 })
    for (const { body } of made) await client.request('cancelOrder', 'DELETE', `/orders/${body.order.id}`)
    assert.equal((await create(client, LIMIT)).status, 201)
  })

  it('what the rules of the market forbid, with the numbers', async () => {
    const client = await scoped('trader-4', 'agent-4', {})
    const codeOf = async (change: Record<string, unknown>) => (await create(client, { ...MARKET, ...change })).body
    assert.deepEqual((await codeOf({ price: '60000.12345' })).code, 'PRECISION_ERROR')
    assert.equal((await codeOf({ leverage: '1000' })).code, 'LEVERAGE_OUT_OF_RANGE')
    assert.equal((await codeOf({ size: '0.00001' })).code, 'SIZE_BELOW_MINIMUM')
    assert.equal((await codeOf({ collateral: 'NOPE' })).code, 'COLLATERAL_NOT_SUPPORTED')
    assert.equal((await codeOf({ market: 'NOPE/USD' })).code, 'MARKET_NOT_FOUND')
    assert.equal((await codeOf({ type: 'limit' })).code, 'VALIDATION_ERROR')
    assert.equal((await codeOf({ type: 'limit', price: '1', reduceOnly: true })).code, 'UNSUPPORTED')
    assert.equal((await codeOf({ side: 'short', reduceOnly: true })).code, 'POSITION_NOT_FOUND')
    const reverted = await codeOf({ tp: '50000' })
    assert.deepEqual([reverted.code, reverted.details.errorName], ['SIMULATION_REVERTED', 'TradeTpInvalid'])
    const huge = await codeOf({ size: '400' })
    assert.equal(huge.code, 'SIMULATION_REVERTED')
    assert.match(huge.message, /USDC/)
    await world.chain.control('bezel_setMarketOpen', 'ETH/USD', false)
    const closed = async (): Promise<boolean> =>
      (await codeOf({ market: 'ETH/USD', size: '1' })).code === 'MARKET_CLOSED'
    await until('the market is closed', closed)
    await world.chain.control('bezel_setMarketOpen', 'ETH/USD', null)
    assert.deepEqual(
      (await history(client)).filter(({ status }) => status !== 'expired' && status !== 'prepared'),
      [],
    )
  })

  it('an order after its expiry, unless its transaction was mined', async () => {
    const client = await scoped('trader-5', 'agent-5', {})
    const { order, transaction } = await client.prepare({ ...MARKET, clientId: 'slow' })
    await client.orderOnce(order.id, ({ status }) => status === 'expired')
    const again = await create(client, { ...MARKET, clientId: 'slow' })
    assert.deepEqual([again.status, again.body.order.id, again.body.order.status], [200, order.id, 'prepared'])
    assert.notEqual(again.body.transaction.data, transaction.data)
    await client.orderOnce(order.id, ({ status }) => status === 'expired')
    // The chain is the truth: an old transaction that is mined late revives the order.
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
  })

  it('a replayed request, a wrong signature, an old timestamp, a key on a write', async () => {
    const client = await scoped('trader-1', 'agent-1', {})
    const body = JSON.stringify(LIMIT)
    const of = { operation: 'createOrder', method: 'POST', path: `${CHAIN}/orders`, body }
    const post = (headers: Record<string, string>) =>
      call(world.url(), of.path, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
    const headers = await signedHeaders(domain, client.agent, of)
    assert.equal((await post(headers)).status, 201)
    assert.equal((await post(headers)).body.code, 'NONCE_REUSED')
    await world.crash()
    assert.equal((await post(headers)).body.code, 'NONCE_REUSED')
    const other = await signedHeaders(domain, client.agent, { ...of, body: '{}' })
    assert.equal((await post(other)).body.code, 'INVALID_SIGNATURE')
    const old = await signedHeaders(domain, client.agent, of, { timestamp: String(Date.now() - 31_000) })
    assert.equal((await post(old)).body.code, 'TIMESTAMP_OUT_OF_WINDOW')
    const stranger = await signedHeaders(domain, privateKeyToAccount(generatePrivateKey()), of)
    assert.equal((await post(stranger)).body.code, 'AGENT_UNKNOWN')
    assert.equal((await post({})).body.code, 'UNAUTHENTICATED')
    const issued = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, client.trader, 'k'))
    const keyed = { 'x-service-api-key': issued.body.apiKey as string }
    assert.deepEqual((await post(keyed)).body.code, 'UNAUTHENTICATED')
    const [order] = await history(client)
    const read = await call(world.url(), `${CHAIN}/orders/${order!.id}`, { headers: keyed })
    assert.equal(read.body.id, order!.id)
    const partial = { ...headers, 'x-service-nonce': freshNonce() }
    delete (partial as Record<string, string>)['x-service-signature']
    assert.equal((await post(partial)).body.code, 'UNAUTHENTICATED')
  })

  it("another trader's order and position", async () => {
    const mine = await scoped('trader-1', 'agent-1', {})
    const theirs = await scoped('trader-2', 'agent-2', {})
    const { order } = await mine.prepare(LIMIT)
    assert.equal((await theirs.request('getOrder', 'GET', `/orders/${order.id}`)).body.code, 'ORDER_NOT_FOUND')
    assert.equal((await theirs.request('cancelOrder', 'DELETE', `/orders/${order.id}`)).body.code, 'ORDER_NOT_FOUND')
    const close = await theirs.request('closePosition', 'POST', `/positions/${order.id}/close`, {})
    assert.equal(close.body.code, 'POSITION_NOT_FOUND')
    const path = `/account/${mine.trader.address}/positions`
    assert.equal((await theirs.request('listPositions', 'GET', path)).body.code, 'TRADER_MISMATCH')
  })

  it('a revoked agent at once, in the middle of an order, and one that the trader cut on the chain', async () => {
    const client = await scoped('trader-3', 'agent-4', {})
    const { order, transaction } = await client.prepare(LIMIT)
    const body = await revocation(domain, client.trader, client.agent.address)
    await send(world.url(), 'DELETE', `${CHAIN}/agents/${client.agent.address}`, body)
    assert.equal((await create(client, LIMIT)).body.code, 'AGENT_REVOKED')
    // Revoking stops only new requests: a transaction prepared before is bound by the chain alone, and the service
    // reports its outcome.
    await client.broadcast(transaction)
    await authorize({ chain: world.chain, url: world.url }, client.trader, client.agent)
    await client.orderOnce(order.id, ({ status }) => status === 'open')

    await world.chain.send(client.trader, 'removeTradingDelegate', [])
    const cut = await create(client, LIMIT)
    assert.deepEqual([cut.status, cut.body.code], [403, 'AGENT_NOT_DELEGATED'])
    assert.equal(cut.body.details.delegationTx.to, world.chain.diamond)
  })

  it('an agent whose scope has expired', async () => {
    const client = await scoped('trader-4', 'agent-5', { expiresAt: Date.now() + 3_000 })
    assert.equal((await create(client, LIMIT)).status, 201)
    const isExpired = async (): Promise<boolean> => (await create(client, LIMIT)).body.code === 'AGENT_EXPIRED'
    await until('the scope has expired', isExpired)
  })

  it('a transaction that reverts on the chain becomes a rejected order', async () => {
    const client = await world.clientOf('trader-5', 'agent-3')
    const { order, transaction } = await client.prepare(LIMIT)
    await world.chain.send(client.trader, 'removeTradingDelegate', [])
    const hash = await client.broadcast(transaction, 'reverted')
    const self = await createTradingClient(
      { devnet: world.devnet, chain: world.chain, url: world.url },
      client.trader,
      client.agent,
    )
    await world.chain.send(client.trader, 'setTradingDelegate', [client.agent.address])
    // The service learns of the new delegation at its next refresh.
    await until('the report is taken', async () => (await self.submit(order.id, hash)).status === 200)
    const rejected = await self.orderOnce(order.id, ({ status }) => status === 'rejected')
    assert.deepEqual([rejected.reason, rejected.txHash], ['OTHER', hash])
  })
})
