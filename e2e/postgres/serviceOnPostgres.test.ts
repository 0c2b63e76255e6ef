import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import { call, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { mountSmallDisk } from '@bezel/testkit/mountSmallDisk.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY, untilSettled } from '@bezel/testkit/untilSettled.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { addressFor, giveRights } from './servedDatabase.ts'

/** Size of the disk of the database, several times that of an empty one. */
const DISK_MB = 96
/** Time that a chunk takes in each direction where the database is slow: two seconds for an answer. */
const SLOW_MS = 1_000
/** Reasons of refusals: of the store, and once nobody has heard of it for longer. */
const IS_AWAY: ReadonlySet<unknown> = new Set(['store_unavailable', 'store_lagging'])
const CHAIN_PATH = '/v1/arbitrum-sepolia'
const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

describe('the service on PostgreSQL, as a user who may change no table', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-rights-'))
  let server: RunningPostgres
  let proxy: TcpProxy
  let world: TradingWorld
  let client: TradingClient
  /** Absent where the tests may not mount one. */
  const disk = mountSmallDisk(DISK_MB)
  /** Orders that were acknowledged, by client id. */
  const acknowledged = new Map<string, string>()

  before(async () => {
    installPostgres()
    server = await startPostgres({ isDurable: true })
    await (disk === undefined ? server.createDatabase('bezel') : server.createDatabaseIn('bezel', disk.folder))
    proxy = await startProxy(server.port)
    await giveRights(server, 'bezel', folder)
    const address = addressFor('bezel_serve', server, 'bezel', proxy.port)
    world = await startTradingWorld({ service: { DATABASE_URL: address } })
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(async () => {
    await world?.stop()
    await proxy?.close()
    await server?.remove()
    disk?.unmount()
    rmSync(folder, { recursive: true, force: true })
  })

  const create = async (clientId: string): Promise<Answer> => {
    const answer = await client.request('createOrder', 'POST', '/orders', { ...MARKET, clientId })
    if (answer.status < 300) acknowledged.set(clientId, answer.body.order.id)
    return answer
  }
  const createOnce = (clientId: string): Promise<unknown> =>
    until(`${clientId} is accepted`, async (saw) => {
      const answer = await create(clientId)
      saw(answer.body)
      return answer.status < 300
    })
  const countOrders = async (clientId: string): Promise<string> =>
    (await server.psql('bezel', `select count(*) || ' ' || min(id) from orders where client_id = '${clientId}'`)).trim()
  /** Asks until the answer to the commit of something was lost on its way. Returns what was answered then. */
  async function untilLost(marker: string, ask: () => Promise<Answer>): Promise<Answer> {
    let isLost = false
    void proxy.loseCommit(marker).then(() => (isLost = true))
    return until('a commit is not answered', async (saw) => {
      const answer = await ask()
      saw(answer.body)
      return isLost ? answer : undefined
    })
  }
  const publicRead = async (): Promise<number> => (await fetch(`${world.url()}/v1/arbitrum-sepolia/prices`)).status

  it('leads an agent to a filled order, and keeps nothing in the data folder', async () => {
    const filled = await client.trade({ ...MARKET, clientId: 'first' }, 'filled')
    acknowledged.set('first', filled.id)
    const positions = await untilSettled(() => client.account('/positions', 'listPositions'), BUSY)
    assert.equal(positions.body.data?.length, 1, JSON.stringify(positions.body))
    assert.equal(await server.psql('bezel', `select status from orders where client_id = 'first'`), 'filled\n')
  })

  for (const [name, tag, fail, mend] of [
    ['is restarted', 'restart', () => server.stop(), () => server.start()],
    ['crashes', 'crash', () => server.stop('immediate'), () => server.start()],
    ['hangs', 'hang', () => proxy.hang(), () => proxy.resume()],
    [
      'is cut off, and connections to it are not answered',
      'cut',
      () => (proxy.ignoreNew(), proxy.cut()),
      () => proxy.resume(),
    ],
    ['takes two seconds to answer', 'slow', () => (proxy.delayMs = SLOW_MS), () => (proxy.delayMs = 0)],
  ] as const) {
    it(`says so when PostgreSQL ${name}, answers public reads, and goes on afterwards`, async () => {
      await createOnce(`before-${tag}`)
      const waiting = await client.prepare({ ...MARKET, clientId: `during-${tag}` })
      acknowledged.set(`during-${tag}`, waiting.order.id)
      await fail()
      try {
        await client.broadcast(waiting.transaction)
        const refused = await create(`refused-${tag}`)
        assert.equal(refused.status, 503, JSON.stringify(refused.body))
        assert.ok(IS_AWAY.has(refused.body.details?.reason), JSON.stringify(refused.body))
        assert.equal(await publicRead(), 200)
      } finally {
        await mend()
      }
      await createOnce(`after-${tag}`)
      await client.orderOnce(waiting.order.id, ({ status }) => status === 'filled')
    })
  }

  it(
    'says so when the disk of PostgreSQL is full, answers public reads, and goes on when there is room again',
    { skip: disk === undefined ? 'disks may not be mounted here' : false },
    async () => {
      disk!.fill()
      try {
        // The pages that are begun take some more orders.
        await until('an order does not fit', async (saw) => {
          const refused = await create(`full-${acknowledged.size}`)
          saw(refused.body)
          return refused.status === 503 && refused.body.details?.reason === 'store_unavailable'
        })
        assert.equal(await publicRead(), 200)
      } finally {
        disk!.free()
      }
      await createOnce('after-full')
      const waiting = await client.prepare({ ...MARKET, clientId: 'filled-after-full' })
      await client.broadcast(waiting.transaction)
      await client.orderOnce(waiting.order.id, ({ status }) => status === 'filled')
    },
  )

  it('finds an order whose commit was not answered by its clientId, and its nonce is used up', async () => {
    const clientId = 'not-answered'
    const body = JSON.stringify({ ...MARKET, clientId })
    const path = `${CHAIN_PATH}/orders`
    const { domain } = (await call(world.url(), CHAIN_PATH)).body.signing
    let headers = {}
    const refused = await untilLost(clientId, async () => {
      headers = {
        ...(await signedHeaders(domain, client.agent, { operation: 'createOrder', method: 'POST', path, body })),
        'content-type': 'application/json',
      }
      return call(world.url(), path, { method: 'POST', headers, body })
    })
    assert.deepEqual([refused.status, refused.body.details?.reason], [503, 'store_unavailable'])
    assert.match(await countOrders(clientId), /^1 /)
    const replayed = await untilSettled(() => call(world.url(), path, { method: 'POST', headers, body }))
    assert.deepEqual([replayed.status, replayed.body.code], [401, 'NONCE_REUSED'])
    await createOnce(clientId)
    assert.equal(await countOrders(clientId), `1 ${acknowledged.get(clientId)}`)
  })

  it('finds an order of the facade whose commit was not answered by its cloid', async () => {
    const trader = world.chain.account('trader-2')
    const relayer = world.chain.account('relayer')
    await world.chain.send(trader, 'setTradingDelegate', [relayer.address])
    const cloid = `0x${'c1'.repeat(16)}`
    const order = { a: 0, b: true, p: '50000', s: '0.02', r: false, t: { limit: { tif: 'Gtc' } }, c: cloid }
    const key = world.devnet.file.accounts.find(({ name }) => name === 'trader-2')!.privateKey
    const place = async (): Promise<Answer> => {
      const { expiresAfter: _none, ...envelope } = signL1(key, {
        action: { type: 'order', orders: [order], grouping: 'na' },
        nonce: Date.now(),
      })
      return call(world.url(), '/hl/arbitrum-sepolia/exchange', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(envelope),
      })
    }
    const refused = await untilLost(cloid, place)
    assert.equal(refused.status, 503, JSON.stringify(refused.body))
    assert.match(await countOrders(cloid), /^1 /)
    const answer = await until('the order is found', async (saw) => {
      const tried = await place()
      saw(tried.body)
      return tried.status === 200 && tried.body.status === 'ok' ? tried.body : undefined
    })
    assert.equal(await countOrders(cloid), `1 ${answer.response.data.statuses[0].resting.oid}`)
    acknowledged.set(cloid, String(answer.response.data.statuses[0].resting.oid))
  })

  it('has lost nothing and doubled nothing, also after a crash of its own', async () => {
    await world.crash()
    const listed = await server.psql('bezel', `select client_id || '=' || id from orders order by id`)
    const stored = new Map(
      listed
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    )
    for (const [clientId, id] of acknowledged) assert.equal(stored.get(clientId), id, clientId)
    for (const [clientId, id] of acknowledged) {
      if (!clientId.startsWith('0x')) assert.equal((await client.order(id)).id, id)
    }
    assert.equal(listed.trim().split('\n').length, stored.size)
  })
})
