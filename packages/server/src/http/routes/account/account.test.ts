import { NodeUnavailableError, type NotReadyReason } from '../../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import {
  AccountSchema,
  FillPageSchema,
  OrderListSchema,
  OrderPageSchema,
  OrderSchema,
  parseAddress,
  PositionListSchema,
  PositionSchema,
  type FillHistoryEntry,
  type Hex,
  type OrderId,
  type OrderStatus,
} from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { createApiKey } from '../../../agents/apiKey.ts'
import { keyAccess } from '../../../access/testing/keyAccess.ts'
import { createMarketReads } from '../../../market/marketReads.ts'
import { createWorld, portsOf, type MarketWorld } from '../../../market/testing/fixtures.ts'
import { openLivePositions } from '../../../accounts/positions/livePositions.ts'
import { createKnownTerms } from '../../../accounts/positions/traderTerms.ts'
import { createPositionReads } from '../../../accounts/positions/positionReads.ts'
import { insertFill } from '../../../store/fillStore.ts'
import { sampleFill } from '../../../store/testing/sampleFill.ts'
import { migrate } from '../../../store/openStore.ts'
import { insertPosition, savePositionState } from '../../../store/positionStore.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { POSITION } from '../../../trading/valuation/testing/fixtures.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { getOrderRoute } from '../orders/getOrder.ts'
import { getOrderByClientIdRoute } from '../orders/getOrderByClientId.ts'
import { getPositionRoute } from '../positions/getPosition.ts'
import type { AccountContext } from './ownAccount.ts'
import { getAccountRoute } from './getAccount.ts'
import { listFillsRoute } from './listFills.ts'
import { listOpenOrdersRoute } from './listOpenOrders.ts'
import { listOrderHistoryRoute } from './listOrderHistory.ts'
import { listPositionsRoute } from './listPositions.ts'
import { storeOrder } from './testing/storedOrder.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const BASE = testChain('base')

const ARBITRUM = testChain('arbitrum')

const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)!

const BOB = parseAddress(`0x${'b2'.repeat(20)}`)!

const HASH = `0x${'cd'.repeat(32)}` as Hex

const KEYS = new Map([ALICE, BOB].map((trader) => [trader, createApiKey()]))

describe("the routes of a trader's own account", () => {
  let opened: TestStore
  let world: MarketWorld
  let app: FastifyInstance
  let follower: NotReadyReason | undefined
  let isNodeAway: boolean
  let isKnown: boolean

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      const statuses: (OrderStatus | undefined)[] = [
        'prepared',
        'pending',
        'open',
        'filled',
        'timed_out',
        'expired',
        undefined,
      ]
      for (const [at, status] of statuses.entries()) {
        await storeOrder(sql, 95 + at, { trader: ALICE, status })
      }
      await storeOrder(sql, 200, { trader: BOB, status: 'open' })
      await storeOrder(sql, 201, { trader: ALICE, chain: 'arbitrum', status: 'open' })
      const { trade, info, liquidationParams, feesData } = POSITION
      const since = {
        maxClosingSlippageP: 0,
        pendingUpdate: null,
        oldBorrowing: null,
        updateRefusal: null,
        openedAtBlock: 1,
        openedAtMs: 1,
        updatedAtMs: 1,
      }
      const state = { trade, info, liquidationParams, feesData, ...since }
      const record = { id: '900' as OrderId, chain: 'base', trader: ALICE, originOrderId: '98' as OrderId } as const
      await insertPosition(sql, record)
      await savePositionState(sql, record.id, { ...state, isOpen: true })
      for (let id = 1; id <= 7; id += 1) {
        const place = { blockNumber: 10 + (id >> 1), blockHash: HASH, logIndex: id, txHash: HASH, timestampMs: 1 }
        await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 0, place, fill: sampleFill(id) })
      }
    })
  })
  after(() => opened.remove())

  beforeEach(async () => {
    world = createWorld()
    follower = undefined
    isNodeAway = false
    isKnown = true
    const markets = createMarketReads(portsOf(world))
    const positions = createPositionReads({
      live: await openLivePositions(opened.store, 'base', createKnownTerms(Date.now)),
      freshness: markets.freshness,
      head: () => ({ number: 100, timestampMs: 1_000_000 }),
      followerReason: () => follower,
      priceVersion: () => world.version,
      now: () => world.nowMs,
    })
    const context: AccountContext = {
      ...keyAccess(BASE, KEYS),
      chains: [BASE, ARBITRUM],
      markets: new Map([['base', markets]]),
      store: opened.store,
      positionsOf: () => positions,
      followerReason: () => follower,
      isKnown: () => isKnown,
      accountsOf: () => ({
        forget: () => undefined,
        watch: () => () => undefined,
        async accountText(address) {
          if (isNodeAway) throw new NodeUnavailableError('away')
          return JSON.stringify({ address, balances: [], feeTierMultiplier: '0.975', referrer: null, agents: [] })
        },
      }),
    }
    app = createApp('silent')
    for (const route of [
      getAccountRoute,
      listPositionsRoute,
      listOpenOrdersRoute,
      listOrderHistoryRoute,
      listFillsRoute,
      getOrderRoute,
      getOrderByClientIdRoute,
      getPositionRoute,
    ]) {
      registerRoute(app, route, context)
    }
  })

  async function get(path: string, trader = ALICE) {
    const answer = await app.inject({ url: `/v1/base${path}`, headers: { 'x-service-api-key': KEYS.get(trader)! } })
    return { status: answer.statusCode, type: answer.headers['content-type'], body: answer.json() }
  }
  const own = (path: string) => get(`/account/${ALICE}${path}`)
  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

  it('answer in the shapes of the interface', async () => {
    const shapes: [path: string, schema: TSchema][] = [
      ['', AccountSchema],
      ['/positions', PositionListSchema],
      ['/orders', OrderListSchema],
      ['/orders/history', OrderPageSchema],
      ['/fills', FillPageSchema],
    ]
    for (const [path, schema] of shapes) {
      const { status, type, body } = await own(path)
      assert.deepEqual([status, type], [200, 'application/json; charset=utf-8'], path)
      assert.deepEqual([...Value.Errors(schema, body)], [], path)
    }
    const { status, type, body } = await get('/orders/97')
    assert.deepEqual([status, type], [200, 'application/json; charset=utf-8'])
    assert.deepEqual([...Value.Errors(OrderSchema, body)], [])
    const position = await get('/positions/900')
    assert.deepEqual([position.status, position.type], [200, 'application/json; charset=utf-8'])
    assert.deepEqual([...Value.Errors(PositionSchema, position.body)], [])
    assert.deepEqual(position.body, (await own('/positions')).body.data[0])
  })

  it('are for the owner of the account only', async () => {
    for (const path of ['', '/positions', '/orders', '/orders/history', '/fills']) {
      const { status, body } = await get(`/account/${ALICE}${path}`, BOB)
      assert.deepEqual([status, body.code], [403, 'TRADER_MISMATCH'], path)
      assert.deepEqual(ownDetails(body.details), { trader: BOB, named: ALICE }, path)
      assert.equal((await get(`/account/${ALICE.toLowerCase()}${path}`)).status, 200, 'an address in any case')
      assert.equal((await get(`/account/0x12${path}`)).body.code, 'VALIDATION_ERROR')
      assert.equal((await app.inject(`/v1/base/account/${ALICE}${path}`)).json().code, 'UNAUTHENTICATED')
    }
  })

  it('are for the trader that the request names, if it names one', async () => {
    const read = async (named: string): Promise<number> => {
      const headers = { 'x-service-api-key': KEYS.get(ALICE)!, 'x-service-trader': named }
      return (await app.inject({ url: '/v1/base/orders/97', headers })).statusCode
    }
    assert.deepEqual(
      [await read(ALICE), await read(ALICE.toLowerCase()), await read(BOB), await read('')],
      [200, 200, 403, 400],
    )
  })

  it('list what is prepared, pending, open or timed out as open orders, newest first', async () => {
    assert.deepEqual(idsOf((await own('/orders')).body), ['99', '97', '96', '95'])
  })

  it('page through every order that exists, newest first, as numbers', async () => {
    const all = idsOf((await own('/orders/history')).body)
    assert.deepEqual(
      all,
      ['100', '99', '98', '97', '96', '95'],
      '101 has no state, 200 and 201 are not of this account',
    )
    const seen: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const { body } = await own(`/orders/history?limit=2${next === '' ? '' : `&cursor=${next}`}`)
      assert.ok(body.data.length <= 2)
      seen.push(...idsOf(body))
      next = body.nextCursor
    }
    assert.deepEqual(seen, all)
  })

  it('page through fills, newest first, also where a block has several', async () => {
    const seen: number[] = []
    let next: string | null = ''
    while (next !== null) {
      const { body } = await own(`/fills?limit=3${next === '' ? '' : `&cursor=${next}`}`)
      seen.push(...body.data.map(({ id }: FillHistoryEntry) => id))
      next = body.nextCursor
    }
    assert.deepEqual(seen, [7, 6, 5, 4, 3, 2, 1])
  })

  it('refuse a query they do not know', async () => {
    const cursorOfFills = (await own('/fills?limit=1')).body.nextCursor
    const cursorOfOrders = (await own('/orders/history?limit=1')).body.nextCursor
    const refused: [path: string, issue: string][] = [
      ['/orders/history?limit=0', 'query.limit'],
      ['/orders/history?limit=501', 'query.limit'],
      ['/orders/history?limit=1&limit=2', 'query.limit'],
      [`/orders/history?cursor=${cursorOfFills}`, 'query.cursor'],
      [`/fills?cursor=${cursorOfOrders}`, 'query.cursor'],
      ['/fills?limit=abc', 'query.limit'],
      ['/fills?page=2', 'query.page'],
    ]
    for (const [path, issue] of refused) {
      const { status, body } = await own(path)
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], path)
      assert.deepEqual(
        body.details.issues.map(({ path: at }: { path: string }) => at),
        [issue],
        path,
      )
    }
  })

  it('show an order to its trader, and to nobody else, as if there was none', async () => {
    assert.equal((await get('/orders/200', BOB)).body.id, '200')
    for (const id of ['200', '201', '101', '999', '0', '-1', '01', '1.5', 'abc', '9999999999999999', '9'.repeat(90)]) {
      const { status, body } = await get(`/orders/${id}`)
      assert.deepEqual([status, body.code], [404, 'ORDER_NOT_FOUND'], id)
    }
  })

  it('find an order by the key that its trader gave it, on its chain', async () => {
    assert.deepEqual((await get('/orders?clientId=order-97')).body, (await get('/orders/97')).body)
    assert.equal((await get('/orders?clientId=order-200', BOB)).body.id, '200')
    for (const key of ['order-200', 'order-201', 'order-101', 'ORDER-97', 'x', '%F0%9F%90%99'.repeat(64)]) {
      const { status, body } = await get(`/orders?clientId=${key}`)
      assert.deepEqual([status, body.code], [404, 'ORDER_NOT_FOUND'], key)
    }
    for (const query of [
      '',
      '?clientId=',
      `?clientId=${'a'.repeat(65)}`,
      '?clientId=a&clientId=b',
      '?clientId=a&id=97',
    ]) {
      const { status, body } = await get(`/orders${query}`)
      assert.deepEqual([status, body.code, body.details.issues.length], [400, 'VALIDATION_ERROR', 1], query)
    }
  })

  it('show a position to its trader, and to nobody else, as if there was none', async () => {
    assert.equal((await get('/positions/900')).body.id, '900')
    for (const [id, trader] of [
      ['900', BOB],
      ...['97', '901', '0', 'abc', '0900'].map((other) => [other, ALICE] as const),
    ] as const) {
      const { status, body } = await get(`/positions/${id}`, trader)
      assert.deepEqual([status, body.code], [404, 'POSITION_NOT_FOUND'], id)
    }
  })

  it('wait for the followed chain where they tell what is now, and go on where they tell what was', async () => {
    for (const reason of ['starting', 'chain_lagging'] as const) {
      follower = reason
      for (const path of ['/positions', '/orders']) {
        const { status, body } = await own(path)
        assert.deepEqual([status, body.code, ownDetails(body.details)], [503, 'NOT_READY', { reason }], path)
      }
      for (const path of ['/orders/history', '/fills']) assert.equal((await own(path)).status, 200, path)
      assert.equal((await get('/orders/97')).status, 200)
      assert.equal((await get('/orders?clientId=order-97')).status, 200)
      assert.equal((await get('/positions/900')).status, 503)
    }
  })

  it('are all refused while not everything of the trader is known, because a part would be taken for all', async () => {
    isKnown = false
    for (const path of ['', '/positions', '/orders', '/orders/history', '/fills']) {
      const { status, body } = await own(path)
      assert.deepEqual([status, body.code, ownDetails(body.details)], [503, 'NOT_READY', { reason: 'snapshot' }], path)
    }
    for (const path of ['/orders/97', '/orders?clientId=order-97', '/positions/900']) {
      assert.equal((await get(path)).status, 503, path)
    }
  })

  it('go on while the feed is silent, with positions that say how old their price is', async () => {
    const pricedAtMs = world.nowMs
    world.nowMs += 60_000
    for (const path of ['', '/orders', '/orders/history', '/fills']) assert.equal((await own(path)).status, 200, path)
    const { status, body } = await own('/positions')
    assert.equal(status, 200)
    assert.ok(body.data.length > 0)
    for (const { priceAt } of body.data) assert.equal(priceAt, pricedAtMs)
  })

  it('say so when the balances can not be read', async () => {
    isNodeAway = true
    const { status, body } = await own('')
    assert.deepEqual([status, body.code], [502, 'UPSTREAM_UNAVAILABLE'])
  })
})
