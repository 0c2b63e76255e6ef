import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Order } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import type { Fault } from './outages/faultyProxy.ts'
import { LIES, OTHER_CHAIN } from './outages/lies.ts'
import { startOutageWorld, type OutageWorld } from './outages/outageWorld.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT = { ...MARKET, type: 'limit', price: '50000' }

/** Time that the service waits for a node. */
const NODE_TIMEOUT_MS = 5_000
/** Delay after which the service has given up, even when it is slow to notice. */
const TOO_LATE_MS = NODE_TIMEOUT_MS + 10_000
/** Time that a test waits for the lock of the store. */
const LOCK_PATIENCE_MS = 60_000

describe('outages', () => {
  let world: OutageWorld
  let client: TradingClient
  let resting: Order
  let positionId: string

  before(async () => {
    world = await startOutageWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    resting = await client.trade(LIMIT, 'open')
    positionId = (await client.trade(MARKET, 'filled')).fill!.positionId!
  })
  after(() => world?.stop())
  beforeEach(() => {
    for (const backend of [world.node, world.feed]) {
      backend.fault = { kind: 'none' }
      backend.setStreams('none')
    }
    return untilReady()
  })

  const get = (path: string): Promise<Answer> => call(world.service.url, path)
  const create = (body: unknown): Promise<Answer> => client.request('createOrder', 'POST', '/orders', body)
  const history = async (): Promise<Order[]> => {
    const answer = await client.account('/orders/history?limit=200', 'listOrderHistory')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(answer.body.nextCursor, null, 'all orders fit on one page')
    return answer.body.data
  }
  const ids = async (): Promise<string[]> => (await history()).map(({ id }) => id)
  const isFilled = ({ status }: Order): boolean => status === 'filled'

  function untilReady(): Promise<boolean> {
    return until('the service is ready', async () => (await get('/ready')).status === 200)
  }

  /** Readiness may be older than the last answer of the node, so the positions are asked for too. */
  async function untilKnown(): Promise<void> {
    await until('the chain is known', async () => (await client.account('/positions', 'listPositions')).status === 200)
    await untilReady()
  }

  function untilNotReady(): Promise<boolean> {
    return until('the service says that it is not ready', async () => (await get('/ready')).status === 503)
  }

  function assertNotReady({ status, headers, body }: Answer, reason: string): void {
    const refusal = [status, body.code, body.details?.reason, headers.get('retry-after')]
    assert.deepEqual(refusal, [503, 'NOT_READY', reason, '1'])
  }

  /** Returns true when a starved service refused something because what it knows became too old meanwhile. */
  const isLate = ({ body }: Answer): boolean => ['chain_lagging', 'feed_stale'].includes(body.details?.reason)

  /** Sends a write until it gets as far as the store: a starved service may call its chain or its feed late before. */
  function untilStoreRefuses(write: () => Promise<Answer>): Promise<Answer> {
    return until('a write that the store refuses', async (saw) => {
      const answer = await write()
      saw(answer.body)
      return isLate(answer) ? undefined : answer
    })
  }

  /** Sends all requests that read the chain before they prepare something. */
  function writes(): Promise<Answer[]> {
    return Promise.all([
      create(MARKET),
      create(LIMIT),
      client.request('updateOrder', 'PATCH', `/orders/${resting.id}`, { price: '51000' }),
      client.request('cancelOrder', 'DELETE', `/orders/${resting.id}`),
      client.request('closePosition', 'POST', `/positions/${positionId}/close`, {}),
      client.request('updatePosition', 'PATCH', `/positions/${positionId}`, { sl: '40000' }),
    ])
  }

  /** Sends the writes while the node fails; `undefined` when that took so long that the chain data became too old. */
  async function writesDuring(fault: Fault): Promise<Answer[] | undefined> {
    world.node.fault = fault
    const answers = await writes()
    if (!answers.some(isLate)) return answers
    world.node.fault = { kind: 'none' }
    await untilKnown()
    return undefined
  }

  /** Lets the node fail, and asserts that it costs all writes. */
  async function assertCostsWrites(name: string, fault: Fault): Promise<void> {
    const answers = await until(`writes during ${name}`, () => writesDuring(fault))
    for (const [at, { status, headers, body }] of answers.entries()) {
      assert.deepEqual(
        [status, body.code, headers.get('retry-after')],
        [502, 'UPSTREAM_UNAVAILABLE', null],
        `${name}, write ${at}: ${JSON.stringify(body)}`,
      )
    }
  }

  /** Asserts that reads which need no backend still work. */
  async function assertReadsGoOn(): Promise<void> {
    const own = await Promise.all([
      client.request('getOrder', 'GET', `/orders/${resting.id}`),
      client.account('/orders/history', 'listOrderHistory'),
      client.account('/fills', 'listFills'),
    ])
    for (const { status, body } of [...own, await get('/health'), await get(CHAIN)]) {
      assert.equal(status, 200, JSON.stringify(body))
    }
  }

  it('a node that is down costs writes, and loses nothing', async () => {
    const { order: sent, transaction } = await client.prepare({ ...MARKET, clientId: 'sent-meanwhile' })
    const { order: withdrawn } = await client.prepare({ ...LIMIT, clientId: 'withdrawn-meanwhile' })
    const made = await ids()
    const fills = (await client.account('/fills', 'listFills')).body.data.length

    const preview = (query = ''): Promise<Answer> =>
      client.account(`/preview/order?${new URLSearchParams(MARKET).toString()}${query}`, 'previewOrder')
    // A starved service may have an old reading of the account by then, and asks for another one.
    await until('a preview that needs no node', async () => {
      world.node.fault = { kind: 'none' }
      await until('a preview', async () => (await preview()).status === 200)
      world.node.fault = { kind: 'down' }
      return (await preview()).status === 200
    })

    world.node.setStreams('down')
    await assertCostsWrites('an outage', { kind: 'down' })
    const simulated = await preview('&simulate=true')
    assert.ok(simulated.status === 502 || isLate(simulated), JSON.stringify(simulated.body))
    await assertReadsGoOn()
    const known = ['/positions', '/orders'].map((path) =>
      client.account(path, path === '/orders' ? 'listOpenOrders' : 'listPositions'),
    )
    for (const answer of [...(await Promise.all(known)), await get(`${CHAIN}/markets`)]) {
      assert.ok(answer.status === 200 || isLate(answer), 'what was known a moment ago is good for a while')
    }
    assert.equal((await get(`${CHAIN}/prices`)).status, 200)
    const hash = await client.broadcast(transaction)
    const reported = await client.submit(sent.id, hash)
    assert.deepEqual([reported.status, reported.body.status], [200, 'pending'], 'a report is never lost')
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${withdrawn.id}`)
    assert.deepEqual([cancel.status, cancel.body.order.status], [200, 'expired'], 'a withdrawal needs no chain')

    await untilNotReady()
    await until('what is known is too old', async () => (await create(MARKET)).status === 503)
    assertNotReady(await create(MARKET), 'chain_lagging')
    assertNotReady(await client.account('/positions', 'listPositions'), 'chain_lagging')
    assertNotReady(await get(`${CHAIN}/markets`), 'chain_lagging')
    await until('open orders too', async () => (await client.account('/orders', 'listOpenOrders')).status === 503)
    assert.equal((await get(`${CHAIN}/prices`)).status, 200)
    await assertReadsGoOn()

    world.node.fault = { kind: 'none' }
    world.node.setStreams('none')
    const found = await client.orderOnce(sent.id, isFilled)
    assert.equal(found.txHash, hash)
    await untilReady()
    assert.deepEqual(await ids(), made, 'no order was made, and none twice')
    assert.equal((await client.account('/fills', 'listFills')).body.data.length, fills + 1)
    assert.equal((await client.account('/positions', 'listPositions')).body.data.length, 2)
  })

  it('a node that is slow costs writes their time and no more', async () => {
    const made = await ids()
    const startMs = Date.now()
    const asked = assertCostsWrites('slowness', { kind: 'slow', ms: TOO_LATE_MS })
    // A read that asked the node would be refused, as the writes are.
    await Promise.all([asked, assertReadsGoOn()])
    const elapsedMs = Date.now() - startMs
    assert.ok(elapsedMs > NODE_TIMEOUT_MS - 500, `it took ${elapsedMs} ms`)
    // By now the last reading of the delegate is too old.
    await assertReadsGoOn()
    await untilNotReady()
    world.node.fault = { kind: 'none' }
    await untilReady()
    assert.deepEqual(await ids(), made, 'an answer that came too late prepares nothing')
    await client.trade(MARKET, 'filled')
  })

  it('a node that answers anything but the truth is a node that did not answer', async () => {
    const made = await ids()
    for (const [name, lie] of Object.entries(LIES)) {
      await assertCostsWrites(name, { kind: 'lies', lie })
      await assertReadsGoOn()
    }
    world.node.fault = { kind: 'none' }
    await untilKnown()
    assert.deepEqual(await ids(), made)
    await until('orders are taken', async () => (await create(LIMIT)).status === 201)
    await client.trade(MARKET, 'filled')
  })

  it('a node that moved to another chain is not believed, and nothing of it is kept', async () => {
    const { order, transaction } = await client.prepare(MARKET)
    const made = await ids()
    await assertCostsWrites('another chain', { kind: 'lies', lie: OTHER_CHAIN })
    await client.broadcast(transaction)
    await untilNotReady()
    assert.equal((await client.order(order.id)).status, 'prepared', 'its blocks are not applied')
    await assertReadsGoOn()
    world.node.fault = { kind: 'none' }
    await client.orderOnce(order.id, isFilled)
    assert.deepEqual(await ids(), made)
  })

  it('orders move on by asking when the node no longer tells of blocks', async () => {
    const { node } = world
    node.setStreams('down')
    await until('no stream', () => node.openStreams() === 0)
    await client.trade(MARKET, 'filled')
    assert.equal((await get('/ready')).status, 200)
    node.setStreams('silent')
    await until('a stream without a word', () => node.openStreams() > 0)
    await client.trade(MARKET, 'filled')
    node.setStreams('none')
  })

  it('a silent feed stops what opens, and nothing else', async () => {
    const rested = await client.trade({ ...LIMIT, price: '59000' }, 'open')
    const { order: sent, transaction } = await client.prepare(MARKET)
    world.feed.fault = { kind: 'down' }
    world.feed.setStreams('silent')
    await until('stale', async () => (await get(`${CHAIN}/prices`)).status === 503)
    const patch = (body: object) => client.request('updateOrder', 'PATCH', `/orders/${rested.id}`, body)
    for (const answer of [await create(MARKET), await create(LIMIT), await patch({ price: '58000' })]) {
      assertNotReady(answer, 'feed_stale')
    }
    assertNotReady(await get(`${CHAIN}/prices`), 'feed_stale')
    const ready = await get('/ready')
    assert.deepEqual([ready.status, ready.body.chains['arbitrum-sepolia'].reason], [503, 'feed_stale'])

    await assertReadsGoOn()
    await client.broadcast(transaction)
    await client.orderOnce(sent.id, isFilled)
    assert.equal((await client.account('/orders', 'listOpenOrders')).status, 200)
    const listed = await client.account('/positions', 'listPositions')
    assert.equal(listed.status, 200, 'valued with the last mark')
    const close = () => client.request('closePosition', 'POST', `/positions/${positionId}/close`, {})
    const warned = await until('the price is old', async () => {
      const answer = await close()
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body.warnings
    })
    assert.deepEqual([warned[0].code, warned[0].value], ['price_old', '60000'])
    const moved = await patch({ tp: '90000' })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${rested.id}`)
    assert.equal(cancel.status, 200, JSON.stringify(cancel.body))
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(rested.id, ({ status }) => status === 'canceled')
    world.feed.fault = { kind: 'none' }
    world.feed.setStreams('none')
    await untilReady()
    await client.trade(MARKET, 'filled')
  })

  it('a locked store refuses writes whole, goes on reading, and catches up', async () => {
    const { order, transaction } = await client.prepare(MARKET)
    const made = await ids()
    const lock = new DatabaseSync(join(world.devnet.folder, 'bezel.db'), { timeout: LOCK_PATIENCE_MS })
    lock.exec('begin exclusive')
    const refusals = [
      () => create({ ...LIMIT, clientId: 'locked' }),
      () => client.request('cancelOrder', 'DELETE', `/orders/${order.id}`),
    ].map(untilStoreRefuses)
    // A read that waited for the lock would be refused, as the writes are.
    await assertReadsGoOn()
    for (const answer of await Promise.all(refusals)) assertNotReady(answer, 'store_unavailable')
    assert.deepEqual(await ids(), made, 'nothing of a refused order is there')
    assert.equal((await client.order(order.id)).status, 'prepared')
    await client.broadcast(transaction)
    lock.exec('rollback')
    lock.close()

    await client.orderOnce(order.id, isFilled)
    const again = await create({ ...LIMIT, clientId: 'locked' })
    assert.equal(again.status, 201, JSON.stringify(again.body))
    const repeat = await create({ ...LIMIT, clientId: 'locked' })
    assert.deepEqual([repeat.status, repeat.body.order.id], [200, again.body.order.id])
    assert.deepEqual(await ids(), [again.body.order.id, ...made])
  })

  it('a store that is locked for a moment only makes a write wait', async () => {
    // On a busy machine the write may arrive only after the lock is gone, or give up before the test continues.
    await until('a write that waited for the lock', async () => {
      const lock = new DatabaseSync(join(world.devnet.folder, 'bezel.db'), { timeout: LOCK_PATIENCE_MS })
      lock.exec('begin exclusive')
      let isAnswered = false
      const asked = create(LIMIT).finally(() => (isAnswered = true))
      // These requests give the write time to arrive, however slow the machine is.
      for (let requests = 0; requests < 20; requests += 1) await get('/health')
      const hasWaited = !isAnswered
      lock.exec('rollback')
      lock.close()
      return (await asked).status === 201 && hasWaited
    })
  })

  const prlimit = spawnSync('prlimit', ['--version']).error === undefined
  it('a disk that takes no more refuses writes whole, and is used again once it does', { skip: !prlimit }, async () => {
    const { order, transaction } = await client.prepare({ ...MARKET, clientId: 'before-full' })
    const made = await ids()
    const limitFiles = (soft: string): void => {
      execFileSync('prlimit', [`--fsize=${soft}:`, '--pid', String(world.service.pid)])
    }
    limitFiles('0')
    // Signed reads store their nonce, so they are refused too: otherwise the request could be replayed.
    for (const answer of [await create(LIMIT), await client.request('getOrder', 'GET', `/orders/${order.id}`)]) {
      assertNotReady(answer, 'store_unavailable')
    }
    for (const path of ['/health', CHAIN, `${CHAIN}/markets`, `${CHAIN}/prices`])
      assert.equal((await get(path)).status, 200)
    await client.broadcast(transaction)
    const head = await world.chain.client.getBlockNumber({ cacheTime: 0 })
    await until(
      'a few blocks more',
      async () => (await world.chain.client.getBlockNumber({ cacheTime: 0 })) > head + 3n,
    )
    limitFiles('unlimited')
    await client.orderOnce(order.id, isFilled)
    assert.deepEqual(await ids(), made)
    await client.trade(MARKET, 'filled')
  })
})
