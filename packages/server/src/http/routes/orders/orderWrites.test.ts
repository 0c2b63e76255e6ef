import { requestDomain, REQUEST_FIELDS, type Address } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import type { FastifyInstance } from 'fastify'
import { keccak256, stringToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { admitInProcess } from '../../../access/admission.ts'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import { NO_CONTROLS } from '../../../access/testing/noControls.ts'
import {
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  TRADER,
  type OrdersWorld,
} from '../../../orders/testing/ordersWorld.ts'
import { placed } from '../../../orders/testing/chainEvents.ts'
import { reverted } from '../../../orders/testing/scriptedNode.ts'
import { selectEngine } from '../../../signatures/engines.ts'
import { positionOf } from '../../../trading/plan/testing/fixtures.ts'
import { createApp } from '../../createApp.ts'
import type { WriteContext } from '../../hooks/authenticate.ts'
import { registerHooks } from '../../hooks/registerHooks.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { closeAllPositionsRoute } from '../positions/closeAllPositions.ts'
import { closePositionRoute } from '../positions/closePosition.ts'
import { flattenRoute } from '../positions/flatten.ts'
import { updatePositionRoute } from '../positions/updatePosition.ts'
import { cancelAllOrdersRoute } from './cancelAllOrders.ts'
import { cancelOrderRoute } from './cancelOrder.ts'
import { createOrderRoute } from './createOrder.ts'
import { submitOrderRoute } from './submitOrder.ts'
import { updateOrderRoute } from './updateOrder.ts'

const PREFIX = '/v1/arbitrum'
const engine = await selectEngine()
const account = privateKeyToAccount(generatePrivateKey())
const AGENT = account.address as Address

interface Sent {
  readonly operation: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Headers that replace the correct ones; `undefined` removes one. */
  readonly headers?: Record<string, string | undefined>
}

describe('writes over HTTP', () => {
  let world: OrdersWorld
  let app: FastifyInstance
  let lastNonce = 0

  beforeEach(async () => {
    world = await openOrdersWorld()
    world.node.delegate = AGENT
    await world.register({ agent: AGENT })
    app = appOf(world)
  })
  afterEach(async () => {
    await app.close()
    await world.remove()
  })

  function appOf(of: OrdersWorld, agentWritesLimit = 60): FastifyInstance {
    const { chain, delegates, client } = of.orders
    const domain = requestDomain({ name: 'Bezel Trading API', chainId: chain.chainId, diamond: chain.diamond })
    const now = (): number => of.market.nowMs
    const limits = createInProcessLimits()
    const context: WriteContext = {
      agentsOf: () => ({
        chain,
        domain,
        registry: of.registry,
        delegates,
        client,
        relayer: null,
        markets: () => undefined,
      }),
      ordersOf: () => of.orders,
      agentWritesLimit,
      controls: NO_CONTROLS,
      now,
      authenticate: {
        registry: of.registry,
        engine,
        limits,
        agentLimit: 300,
        admission: admitInProcess({ limits, nonces: of.nonces, now }),
        nonces: of.nonces,
        headerPrefix: 'X-Service-',
        domainOf: () => domain,
        now,
      },
    }
    const made = createApp('silent')
    registerHooks(made, { limits, limit: 600, trustedProxies: 0, now })
    for (const route of [
      createOrderRoute,
      updateOrderRoute,
      cancelOrderRoute,
      submitOrderRoute,
      closePositionRoute,
      updatePositionRoute,
      cancelAllOrdersRoute,
      closeAllPositionsRoute,
      flattenRoute,
    ]) {
      registerRoute(made, route, context)
    }
    return made
  }

  async function send({ operation, method, path, body, headers = {} }: Sent, to = app) {
    const url = PREFIX + path
    const payload = body === undefined ? '' : JSON.stringify(body)
    const { chainId, diamond } = world.orders.chain
    const timestamp = headers['x-service-timestamp'] ?? String(world.market.nowMs)
    const nonce = headers['x-service-nonce'] ?? String((lastNonce += 1))
    const signature = await account.signTypedData({
      domain: requestDomain({ name: 'Bezel Trading API', chainId, diamond }),
      primaryType: operation,
      types: { [operation]: REQUEST_FIELDS },
      message: {
        method,
        path: url,
        bodyHash: keccak256(stringToBytes(payload)),
        timestamp: BigInt(timestamp),
        nonce: BigInt(nonce),
      },
    } as never)
    const signed = {
      'x-service-agent': AGENT,
      'x-service-timestamp': timestamp,
      'x-service-nonce': nonce,
      'x-service-signature': signature,
      ...headers,
    }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = Object.fromEntries(Object.entries({ ...type, ...signed }).filter(([, value]) => value !== undefined))
    const answer = await to.inject({ method, url, headers: sent as Record<string, string>, payload })
    // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever the service sent and asserts on it
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() as any }
  }

  const create = (body: unknown = MARKET_BODY, headers: Sent['headers'] = {}) =>
    send({ operation: 'createOrder', method: 'POST', path: '/orders', body, headers })
  const refused = async (answer: Promise<{ status: number; body: { code: string } }>) => {
    const { status, body } = await answer
    return [status, body.code]
  }

  it('creates, updates, cancels, submits, closes and changes', async () => {
    const created = await create({ ...MARKET_BODY, type: 'limit', price: '50000', clientId: 'c' })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const { id } = created.body.order
    assert.equal(created.headers.location, `${PREFIX}/orders/${id}`)
    const repeated = await create({ ...MARKET_BODY, type: 'limit', price: '50000', clientId: 'c' })
    assert.deepEqual([repeated.status, repeated.headers.location], [200, undefined])
    const txHash = `0x${'ab'.repeat(32)}`
    const path = `/orders/${id}`
    const submitted = await send({ operation: 'submitOrder', method: 'POST', path: `${path}/submit`, body: { txHash } })
    assert.deepEqual([submitted.status, submitted.body.status, submitted.body.txHash], [200, 'pending', txHash])
    await placed(world, id)
    const updated = await send({ operation: 'updateOrder', method: 'PATCH', path, body: { price: '51000' } })
    assert.deepEqual([updated.status, updated.body.order.price], [200, '51000'])
    const cancelled = await send({ operation: 'cancelOrder', method: 'DELETE', path })
    assert.deepEqual([cancelled.status, cancelled.body.transaction.value], [200, '0'])

    const { record, state } = positionOf()
    world.positions.push({ record: { ...record, chain: 'arbitrum', trader: TRADER }, state })
    const closed = await send({ operation: 'closePosition', method: 'POST', path: '/positions/7/close' })
    assert.deepEqual([closed.status, closed.body.order?.reduceOnly], [200, true], JSON.stringify(closed.body))
    const partly = await send({
      operation: 'closePosition',
      method: 'POST',
      path: '/positions/7/close',
      body: { slippage: '2' },
    })
    assert.equal(partly.status, 200)
    const nothing = await send({ operation: 'updatePosition', method: 'PATCH', path: '/positions/7', body: {} })
    assert.deepEqual([nothing.status, nothing.body.code], [400, 'VALIDATION_ERROR'])
  })

  it('has no such order or position for ids that are none', async () => {
    for (const id of ['0', 'abc', '99', '9999999999999999', '-1', '1.5']) {
      const cancelled = send({ operation: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` })
      assert.deepEqual(await refused(cancelled), [404, 'ORDER_NOT_FOUND'])
      const closed = send({ operation: 'closePosition', method: 'POST', path: `/positions/${id}/close`, body: {} })
      assert.deepEqual(await refused(closed), [404, 'POSITION_NOT_FOUND'])
    }
  })

  it('checks in the documented order', async () => {
    const bad = { nonsense: true }
    const nothing = {
      'x-service-agent': undefined,
      'x-service-timestamp': undefined,
      'x-service-nonce': undefined,
      'x-service-signature': undefined,
    }
    const steps: [Promise<unknown[]>, number, string][] = [
      [refused(create(bad, { 'x-service-agent': undefined })), 401, 'UNAUTHENTICATED'],
      [refused(create(bad, nothing as never)), 401, 'UNAUTHENTICATED'],
      [
        refused(create(bad, { ...nothing, 'x-service-api-key': `bz_${'a'.repeat(43)}` } as never)),
        401,
        'UNAUTHENTICATED',
      ],
      [refused(create(bad, { 'x-service-signature': '0x' })), 400, 'VALIDATION_ERROR'],
      [
        refused(create(bad, { 'x-service-timestamp': '1', 'x-service-agent': OTHER_AGENT })),
        401,
        'TIMESTAMP_OUT_OF_WINDOW',
      ],
      [refused(create(bad, { 'x-service-agent': OTHER_AGENT })), 401, 'AGENT_UNKNOWN'],
      [refused(create(bad, { 'x-service-signature': `0x${'1'.repeat(130)}` })), 401, 'INVALID_SIGNATURE'],
    ]
    for (const [answer, status, code] of steps) assert.deepEqual(await answer, [status, code])
    const nonce = '777000'
    await create(bad, { 'x-service-nonce': nonce })
    await world.register({ agent: AGENT, revoked: true, scope: { ...UNLIMITED_SCOPE, permissions: 'read' } })
    world.node.delegate = OTHER_AGENT
    world.market.nowMs += 3_001
    assert.deepEqual(await refused(create(bad, { 'x-service-nonce': nonce })), [401, 'NONCE_REUSED'])
    const mixedUp = await create(bad, { 'x-service-trader': OTHER_AGENT })
    assert.deepEqual([mixedUp.status, mixedUp.body.code], [403, 'TRADER_MISMATCH'])
    assert.deepEqual(ownDetails(mixedUp.body.details), { trader: TRADER, named: OTHER_AGENT })
    assert.deepEqual(await refused(create(bad, { 'x-service-trader': 'me' })), [400, 'VALIDATION_ERROR'])
    assert.deepEqual(await refused(create(bad, { 'x-service-trader': TRADER })), [403, 'AGENT_REVOKED'])
    assert.deepEqual(await refused(create(bad)), [403, 'AGENT_REVOKED'])
    const expired = { ...UNLIMITED_SCOPE, permissions: 'read', expiresAt: world.market.nowMs } as const
    await world.register({ agent: AGENT, scope: expired })
    assert.deepEqual(await refused(create(bad)), [403, 'AGENT_EXPIRED'])
    await world.register({ agent: AGENT, scope: { ...UNLIMITED_SCOPE, permissions: 'read' } })
    assert.deepEqual(await refused(create(bad)), [403, 'SCOPE_READ_ONLY'])
    await world.register({ agent: AGENT, scope: { ...UNLIMITED_SCOPE, markets: [] } })
    assert.deepEqual(await refused(create(bad)), [403, 'AGENT_NOT_DELEGATED'])
    assert.deepEqual(await refused(create()), [403, 'AGENT_NOT_DELEGATED'])
    world.node.delegate = AGENT
    world.market.nowMs += 3_001
    assert.deepEqual(await refused(create(bad)), [400, 'VALIDATION_ERROR'])
    assert.deepEqual(await refused(create()), [403, 'SCOPE_MARKET_NOT_ALLOWED'])
  })

  it('tells a relayed agent which transaction would let it trade itself', async () => {
    await world.register({ agent: AGENT, mode: 'relayed' })
    const { status, body } = await create()
    assert.deepEqual([status, body.code], [403, 'AGENT_NOT_DELEGATED'])
    assert.ok(body.details.delegationTx.data.toLowerCase().endsWith(AGENT.slice(2).toLowerCase()))
    assert.equal(world.node.roundTrips(), 0)
  })

  it('limits writes apart from the agent, and tells the tightest', async () => {
    const narrow = appOf(world, 2)
    const order = (): Promise<{ status: number; headers: object; body: { details?: unknown } }> =>
      send({ operation: 'createOrder', method: 'POST', path: '/orders', body: MARKET_BODY }, narrow)
    const first = await order()
    assert.deepEqual([first.status, (first.headers as Record<string, string>)['ratelimit-limit']], [201, '2'])
    await order()
    const third = await order()
    assert.deepEqual([third.status, ownDetails(third.body.details)], [429, { scope: 'agent-writes' }])
    await narrow.close()
  })

  it('is not available on a read-only deployment', async () => {
    const chain = { ...world.orders.chain, writes: false }
    world.orders = { ...world.orders, chain }
    const readOnly = appOf(world)
    const answer = send({ operation: 'createOrder', method: 'POST', path: '/orders', body: MARKET_BODY }, readOnly)
    assert.deepEqual(await refused(answer), [422, 'UNSUPPORTED'])
    await readOnly.close()
  })

  describe('of many orders and positions', () => {
    const NOTHING = { orders: [], leftOut: [], transaction: null, next: null }
    const cancelAll = (query = '', headers: Sent['headers'] = {}) =>
      send({ operation: 'cancelAllOrders', method: 'DELETE', path: `/orders${query}`, headers })
    const closeAll = (body?: unknown, headers: Sent['headers'] = {}) =>
      send({ operation: 'closeAllPositions', method: 'POST', path: '/positions/close-all', body, headers })
    const flatten = (body?: unknown, headers: Sent['headers'] = {}) =>
      send({ operation: 'flatten', method: 'POST', path: '/flatten', body, headers })
    const issues = async (answer: ReturnType<typeof send>): Promise<string[]> => {
      const { status, body } = await answer
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], JSON.stringify(body))
      return body.details.issues.map(({ path }: { path: string }) => path)
    }

    it('take a query or a body, which may be missing, and refuse what is no part of it', async () => {
      for (const answer of [
        cancelAll(),
        cancelAll('?market=BTC-USD'),
        closeAll(),
        closeAll({}),
        flatten({ next: 'o1' }),
      ]) {
        const { status, body } = await answer
        assert.deepEqual([status, body], [200, NOTHING])
      }
      assert.deepEqual(await issues(cancelAll('?slippage=1')), ['query.slippage'])
      assert.deepEqual(await issues(cancelAll('?next=x1&market=btc')), ['query.market', 'query.next'])
      assert.deepEqual(await issues(flatten({ next: 'p0' })), ['body.next'])
      assert.deepEqual(await issues(closeAll({ size: '1' })), ['body.size'])
      assert.deepEqual(await refused(closeAll({ market: 'BTC/EUR' })), [404, 'MARKET_NOT_FOUND'])
    })

    it('end what is there, and count as one write', async () => {
      const made = await create()
      const { headers, body } = await flatten()
      assert.deepEqual(
        body.orders.map(({ id, status }: { id: string; status: string }) => [id, status]),
        [[made.body.order.id, 'expired']],
      )
      const left = (of: object): number => Number((of as Record<string, string>)['ratelimit-remaining'])
      assert.equal(left(made.headers) - left(headers), 1)
    })

    it('are writes: signed, not by a key, and not before everything is known', async () => {
      const unsigned = {
        'x-service-agent': undefined,
        'x-service-timestamp': undefined,
        'x-service-nonce': undefined,
        'x-service-signature': undefined,
        'x-service-api-key': `bz_${'a'.repeat(43)}`,
      }
      for (const write of [cancelAll('', unsigned), closeAll({}, unsigned), flatten({}, unsigned)]) {
        assert.deepEqual(await refused(write), [401, 'UNAUTHENTICATED'])
      }
      world.orders = { ...world.orders, isKnown: () => false }
      const { status, body } = await flatten()
      assert.deepEqual([status, body.code, body.details.reason], [503, 'NOT_READY', 'snapshot'])
    })
  })

  it('answers 502 when the node is away and 422 when the contracts refuse', async () => {
    world.node.isAway = true
    assert.deepEqual(await refused(create()), [502, 'UPSTREAM_UNAVAILABLE'])
    world.node.isAway = false
    world.node.simulation = reverted('0x')
    const { status, body } = await create()
    assert.deepEqual([status, body.code, body.details.errorName], [422, 'SIMULATION_REVERTED', null])
    assert.ok(body.details.calldata.startsWith('0x5bfcc4f8'))
  })

  it('lists what is wrong with a body', async () => {
    const { status, body } = await create({ ...MARKET_BODY, size: 0.1, extra: 1 })
    assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'])
    assert.ok(
      body.details.issues.some(({ path }: { path: string }) => path === 'body.size'),
      JSON.stringify(body),
    )
  })
})
