import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { createInProcessLimits } from '../../../access/inProcessLimits.ts'
import { INFO_TYPES } from '../../../facade/info/infoTypes.ts'
import { ALICE, createFacadeWorld, livePosition, type FacadeWorld } from '../../../facade/testing/facadeWorld.ts'
import { insertFill } from '../../../store/fillStore.ts'
import { sampleFill } from '../../../store/testing/sampleFill.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { allowOrigins, registerHooks } from '../../hooks/registerHooks.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { createAnswerChecker } from '../../../docs/openapi/answerChecker.ts'
import { referenceDocument } from '../../../docs/openapi/createDocument.ts'
import { hlInfoRoute } from './hlInfo.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const MALFORMED = 'Failed to deserialize the JSON body into the target type'

const FIELDS = {
  user: ALICE,
  coin: 'BTC',
  startTime: 0,
  oid: 1,
  id: 100,
  req: { coin: 'BTC', interval: '1h', startTime: 0 },
}

describe('POST /hl/{chain}/info', () => {
  const checker = createAnswerChecker(referenceDocument())
  let world: FacadeWorld
  let app: FastifyInstance

  beforeEach(async () => {
    world = await createFacadeWorld()
    world.positions = [livePosition('11')]
    app = appWith(1_000)
  })
  afterEach(async () => {
    await app.close()
    await world.opened.remove()
  })

  function appWith(limit: number, reads = world.reads): FastifyInstance {
    const made = createApp('silent')
    registerHooks(made, { limits: createInProcessLimits(), limit, trustedProxies: 0, now: () => world.market.nowMs })
    allowOrigins(made, { headerPrefix: 'X-Service-' })
    registerRoute(made, hlInfoRoute, { chains: [testChain('base')], facadeOf: () => reads })
    return made
  }

  async function post(payload: unknown, url = '/hl/base/info', headers: Record<string, string> = {}) {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const answer = await app.inject({
      method: 'POST',
      url,
      payload: body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    checker.assert('hlInfo', answer.statusCode, isJson ? answer.json() : answer.body)
    return {
      status: answer.statusCode,
      type: String(answer.headers['content-type']),
      body: answer.body,
      headers: answer.headers,
    }
  }

  it('answers every type with JSON', async () => {
    for (const type of Object.keys(INFO_TYPES)) {
      const { status, type: contentType, body, headers } = await post({ type, ...FIELDS })
      assert.equal(status, 200, type)
      assert.match(contentType, /^application\/json/, type)
      assert.notEqual(JSON.parse(body), undefined, type)
      assert.equal(headers['ratelimit-limit'], '1000')
      assert.equal(headers['access-control-allow-origin'], '*')
    }
  })

  it('answers null for an unknown coin', async () => {
    for (const type of ['l2Book', 'recentTrades', 'candleSnapshot', 'fundingHistory', 'activeAssetData']) {
      const { status, body } = await post({ type, ...FIELDS, coin: 'NOPE', req: { ...FIELDS.req, coin: 'NOPE' } })
      assert.deepEqual([status, body], [200, 'null'], type)
    }
  })

  it('refuses what it can not read with 422 in plain text', async () => {
    const bodies = [
      { type: 'nope' },
      { type: 'toString' },
      { type: '__proto__' },
      { type: ['meta'] },
      {},
      [],
      null,
      'meta',
      5,
      { type: 'clearinghouseState' },
      { type: 'clearinghouseState', user: 'alice' },
      { type: 'l2Book' },
      { type: 'meta', dex: {} },
    ].map((body) => JSON.stringify(body))
    const broken = ['', '{', '{"type":"meta"', '{"type":"meta","type":"meta"}', '{"__proto__":1}', '\ufeff{}', '[]]']
    for (const body of [...bodies, ...broken, 'x'.repeat(70_000)]) {
      const { status, type, body: text } = await post(body)
      assert.deepEqual([status, type, text], [422, 'text/plain; charset=utf-8', MALFORMED], body.slice(0, 50))
    }
    const form = await post('type=meta', '/hl/base/info', { 'content-type': 'application/x-www-form-urlencoded' })
    assert.deepEqual([form.status, form.body], [422, MALFORMED])
  })

  it('refuses another chain, path or method with 404 in plain text', async () => {
    const chain = await post({ type: 'meta' }, '/hl/polygon/info')
    assert.deepEqual([chain.status, chain.type], [404, 'text/plain; charset=utf-8'])
    assert.equal((await post({ type: 'meta' }, `/hl/${'a'.repeat(200)}/info`)).type, 'text/plain; charset=utf-8')
    for (const url of ['/hl/base/nothing', '/hl/base', '/hl/base/info/meta', '/hl/info']) {
      assert.deepEqual(
        [(await post({}, url)).status, (await post({}, url)).type],
        [404, 'text/plain; charset=utf-8'],
        url,
      )
    }
    const get = await app.inject('/hl/base/info')
    assert.deepEqual([get.statusCode, get.headers['content-type']], [404, 'text/plain; charset=utf-8'])
  })

  it('refuses too many requests with 429 in plain text, and says when to come back', async () => {
    await app.close()
    app = appWith(1)
    await post({ type: 'meta' })
    const { status, type, headers } = await post({ type: 'meta' })
    assert.deepEqual([status, type], [429, 'text/plain; charset=utf-8'])
    assert.ok(Number(headers['retry-after']) > 0)
  })

  it('charges a list 1 for every 200 rows, before it is made, and other types 1', async () => {
    await storeFills(450)
    const left = async (payload: unknown): Promise<number> =>
      Number((await post(payload)).headers['ratelimit-remaining'])
    const before = await left({ type: 'meta' })
    assert.equal(await left({ type: 'userFills', user: ALICE }), before - 3)
    assert.equal(await left({ type: 'userFillsByTime', user: ALICE, startTime: 1_000 + 300 }), before - 4)
    assert.equal(await left({ type: 'userRole', user: ALICE }), before - 5)
    assert.equal(await left({ type: 'userFunding', user: ALICE }), before - 6, 'nothing to list')
    await app.close()
    app = appWith(2)
    const { status, type, body } = await post({ type: 'userFills', user: ALICE })
    assert.deepEqual([status, type], [429, 'text/plain; charset=utf-8'])
    assert.match(body, /^The limit of 2 requests a minute is used up/)
  })

  it('keeps the bytes of a long list until a block or an event comes, and charges them as before', async () => {
    await storeFills(450)
    let block = 7
    let reads = 0
    const sql = {
      ...world.reads.sql,
      all: <Row>(text: string, ...of: []) => ((reads += 1), world.reads.sql.all<Row>(text, ...of)),
    }
    const counted = { ...world.reads, sql, head: () => ({ number: block, timestampMs: 1 }) }
    await app.close()
    app = appWith(1_000, counted)
    const ask = async () => post({ type: 'userFills', user: ALICE })
    const first = await ask()
    const madeBy = reads
    const again = await ask()
    assert.equal(reads, madeBy, 'nothing was listed again')
    assert.equal(again.body, first.body)
    const [left, leftAgain] = [first, again].map(({ headers }) => Number(headers['ratelimit-remaining']))
    assert.equal(left! - leftAgain!, 3)
    block += 1
    await ask()
    assert.ok(reads > madeBy)
  })

  /** Stores executions of Alice, one a millisecond. */
  async function storeFills(count: number): Promise<void> {
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let id = 1; id <= count; id += 1) {
        const blockHash = `0x${id.toString(16).padStart(64, '0')}` as Hex
        const place = { blockHash, blockNumber: id, logIndex: 0, txHash: blockHash, timestampMs: id }
        await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 0, place, fill: sampleFill(id) })
      }
    })
  }

  it('answers faults of its own in the JSON of every error', async () => {
    world.isNodeAway = true
    const away = await post({ type: 'clearinghouseState', user: ALICE })
    assert.deepEqual([away.status, JSON.parse(away.body).code], [502, 'UPSTREAM_UNAVAILABLE'])
    world.market.chain = undefined
    const starting = await post({ type: 'meta' })
    assert.deepEqual([starting.status, JSON.parse(starting.body).code], [503, 'NOT_READY'])
    assert.equal(starting.headers['retry-after'], '1')
    assert.equal((await post({ type: 'perpDexs' })).status, 200)
  })

  it('never refuses because a price is old', async () => {
    world.market.nowMs += 86_400_000
    world.market.isLagging = true
    world.followerReason = 'chain_lagging'
    for (const type of Object.keys(INFO_TYPES)) assert.equal((await post({ type, ...FIELDS })).status, 200, type)
  })

  it('leaves the errors of other routes as they are', async () => {
    const answer = await app.inject('/v1/base/nothing')
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal((await app.inject('/hlx/base')).json().code, 'NOT_FOUND')
  })

  it('can be called by pages of any origin', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' }
    const answer = await app.inject({ method: 'OPTIONS', url: '/hl/base/info', headers })
    assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-origin']], [204, '*'])
  })
})
