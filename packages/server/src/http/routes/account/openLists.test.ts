import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  OPEN_ORDER_STATUSES,
  OrderListSchema,
  parseAddress,
  PositionListSchema,
  type Address,
  type Order,
  type Position,
} from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { testChain } from '@bezel/testkit/servedChain.ts'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { keyAccess } from '../../../access/testing/keyAccess.ts'
import { createPositionReads } from '../../../accounts/positions/positionReads.ts'
import { live } from '../../../accounts/positions/testing/livePosition.ts'
import { createApiKey } from '../../../agents/apiKey.ts'
import { createMarketReads } from '../../../market/marketReads.ts'
import { createWorld, portsOf } from '../../../market/testing/fixtures.ts'
import { migrate } from '../../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import type { LivePosition } from '../../../trading/positions/positionModel.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { listOpenOrdersRoute } from './listOpenOrders.ts'
import { listPositionsRoute } from './listPositions.ts'
import type { AccountContext } from './ownAccount.ts'
import { storeOrder } from './testing/storedOrder.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const BASE = testChain('base')
/** A trader whose list is so long that it is kept in memory, and one whose list is read each time. */
const [BUSY, CALM] = ['a1', 'b2'].map((byte) => parseAddress(`0x${byte.repeat(20)}`)!) as [Address, Address]
const KEYS = new Map([BUSY, CALM].map((trader) => [trader, createApiKey()]))
const MARKETS = ['BTC/USD', 'EUR/USD']

/** The part of a list that a query selects. */
interface Filter {
  readonly market?: string
  readonly status?: string
  readonly since?: number
}

/** Creates the positions of a trader. They are opened two at a time. */
function positionsOf(count: number): LivePosition[] {
  return Array.from({ length: count }, (_, at) => {
    const { record, state } = live(String(at + 1), at % 3 === 0 ? 21 : 0)
    return { record, state: { ...state, openedAtMs: 1_000 + (at >> 1) } }
  })
}

describe('the lists of what is open', () => {
  let opened: TestStore
  let app: FastifyInstance

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let id = 1; id <= 150; id += 1) {
        const status = OPEN_ORDER_STATUSES[id % 4]
        const terms = { market: MARKETS[id % 3 === 0 ? 1 : 0]!, createdAtMs: 1_000 + (id >> 1), status }
        await storeOrder(sql, id, { ...terms, trader: BUSY })
        if (id <= 9) await storeOrder(sql, 1_000 + id, { ...terms, trader: CALM })
      }
    })
    const markets = createMarketReads(portsOf(createWorld()))
    const held = new Map([BUSY, CALM].map((trader, at) => [trader, positionsOf(at === 0 ? 40 : 5)]))
    const positions = createPositionReads({
      live: { ofTrader: (trader) => held.get(trader)! },
      freshness: markets.freshness,
      head: () => ({ number: 100, timestampMs: 1_000_000 }),
      followerReason: () => undefined,
      priceVersion: () => 1,
      now: () => 1_000_000,
    })
    const context: Omit<AccountContext, 'accountsOf'> = {
      ...keyAccess(BASE, KEYS),
      chains: [BASE],
      markets: new Map([['base', markets]]),
      store: opened.store,
      positionsOf: () => positions,
      followerReason: () => undefined,
      isKnown: () => true,
    }
    app = createApp('silent')
    for (const route of [listOpenOrdersRoute, listPositionsRoute]) registerRoute(app, route, context as AccountContext)
  })
  after(() => opened.remove())

  async function get(trader: Address, path: string, query: object = {}) {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const url = `/v1/base/account/${trader}/${path}${search.size === 0 ? '' : `?${search}`}`
    const answer = await app.inject({ url, headers: { 'x-service-api-key': KEYS.get(trader)! } })
    return { status: answer.statusCode, text: answer.body, body: answer.json() }
  }

  /** Reads page after page and returns all their entries. */
  async function readPages<Entry>(trader: Address, path: string, query: object, limit: number): Promise<Entry[]> {
    const entries: Entry[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { body } = await get(trader, path, { ...query, limit, ...(cursor === undefined ? {} : { cursor }) })
      assert.ok(body.data.length <= limit)
      entries.push(...body.data)
      cursor = body.nextCursor
    }
    return entries
  }

  const filters = fc.record(
    {
      market: fc.constantFrom('BTC/USD', 'BTC-USD', 'EUR-USD'),
      since: fc.integer({ min: 990, max: 1_080 }),
    },
    { requiredKeys: [] },
  )
  const statuses = fc.record({ status: fc.constantFrom(...OPEN_ORDER_STATUSES) }, { requiredKeys: [] })
  const traders = fc.constantFrom(BUSY, CALM)
  const limits = fc.integer({ min: 1, max: 60 })

  const isIn = ({ market }: Filter, entry: { readonly market: string }): boolean =>
    market === undefined || entry.market === market.replace('-', '/')

  it('are whole without parameters, in the shape that they always had', async () => {
    for (const trader of [BUSY, CALM]) {
      for (const [path, schema] of [
        ['orders', OrderListSchema],
        ['positions', PositionListSchema],
      ] as const) {
        const { status, body } = await get(trader, path)
        assert.equal(status, 200)
        assert.deepEqual(Object.keys(body), ['data'])
        assert.deepEqual([...Value.Errors(schema, body)], [])
        const ids = body.data.map(({ id }: Order) => Number(id))
        assert.deepEqual(
          ids,
          ids.toSorted((a: number, b: number) => (path === 'orders' ? b - a : a - b)),
        )
      }
    }
  })

  it('of orders have what a query selects, in one answer or in pages', async () => {
    const selections = fc.tuple(traders, filters, statuses, limits)
    await fc.assert(
      fc.asyncProperty(selections, async ([trader, filter, status, limit]) => {
        const query: Filter = { ...filter, ...status }
        const all: Order[] = (await get(trader, 'orders')).body.data
        const expected = all.filter(
          (order) =>
            isIn(query, order) &&
            (query.status === undefined || order.status === query.status) &&
            order.createdAt >= (query.since ?? 0),
        )
        const { body } = await get(trader, 'orders', query)
        assert.deepEqual(body, { data: expected })
        assert.deepEqual(await readPages(trader, 'orders', query, limit), expected)
      }),
      { numRuns: 40 },
    )
  })

  it('of positions have what a query selects, in one answer or in pages', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(traders, filters, limits), async ([trader, query, limit]) => {
        const all: Position[] = (await get(trader, 'positions')).body.data
        const openedAt = (id: string): number => 1_000 + ((Number(id) - 1) >> 1)
        const expected = all.filter((position) => isIn(query, position) && openedAt(position.id) >= (query.since ?? 0))
        const { body } = await get(trader, 'positions', query)
        assert.deepEqual(body, { data: expected })
        assert.deepEqual(await readPages(trader, 'positions', query, limit), expected)
      }),
      { numRuns: 40 },
    )
  })

  it('have a page of 50 after a cursor without a limit', async () => {
    const { body: first } = await get(BUSY, 'orders', { limit: 1 })
    const { body } = await get(BUSY, 'orders', { cursor: first.nextCursor })
    assert.deepEqual([body.data.length, body.data[0].id], [50, '149'])
    assert.equal(typeof body.nextCursor, 'string')
  })

  it('are the same bytes when a query selects everything', async () => {
    for (const path of ['orders', 'positions']) {
      assert.equal((await get(BUSY, path, { since: 0 })).text, (await get(BUSY, path)).text)
    }
  })

  it('refuse what they do not know', async () => {
    const { nextCursor: ofOrders } = (await get(BUSY, 'orders', { limit: 1 })).body
    const { nextCursor: ofPositions } = (await get(BUSY, 'positions', { limit: 1 })).body
    const refused: readonly (readonly [path: string, query: object, issues: readonly string[]])[] = [
      ['orders', { market: 'btc' }, ['query.market']],
      ['orders', { status: 'filled' }, ['query.status']],
      ['orders', { status: '' }, ['query.status']],
      ['orders', { since: -1 }, ['query.since']],
      ['orders', { since: '1e3' }, ['query.since']],
      ['orders', { limit: 0 }, ['query.limit']],
      ['orders', { limit: 501 }, ['query.limit']],
      ['orders', { cursor: ofPositions }, ['query.cursor']],
      ['positions', { cursor: ofOrders }, ['query.cursor']],
      ['positions', { status: 'open' }, ['query.status']],
      ['positions', { page: 2, limit: 'all', market: 'BTC' }, ['query.page', 'query.market', 'query.limit']],
    ]
    for (const [path, query, issues] of refused) {
      const { status, body } = await get(BUSY, path, query)
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], JSON.stringify(query))
      assert.deepEqual(
        body.details.issues.map((issue: { path: string }) => issue.path),
        issues,
      )
    }
    for (const path of ['orders', 'positions']) {
      const { status, body } = await get(BUSY, path, { market: 'DOGE-USD' })
      assert.deepEqual([status, body.code], [404, 'MARKET_NOT_FOUND'])
    }
  })
})
