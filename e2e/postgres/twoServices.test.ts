import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { UNLIMITED_SCOPE, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import packageJson from '../../packages/server/package.json' with { type: 'json' }

/** Requests that are sent at the same time, half of them to each service. */
const AT_ONCE = 20
const FITTING = 3
const LIMIT = { market: 'BTC/USD', side: 'long', type: 'limit', price: '50000', size: '0.02', leverage: '10' }
/** Spend of one order: its size at its price. */
const ORDER_USD = 1_000
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  LOG_LEVEL: 'silent',
}

describe('two processes of the service on one database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-two-'))
  let server: RunningPostgres
  let devnet: RunningDevnet
  let services: readonly RunningService[] = []

  before(async () => {
    installPostgres()
    server = await startPostgres()
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
  })
  after(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await devnet?.stop()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Returns a client of one agent for each service. */
  async function clientsOf(name: string, dailySpendCapUsd: string | null): Promise<readonly TradingClient[]> {
    const chain = createChainClient(devnet.file)
    const [trader, agent] = [chain.account(`trader-${name}`), chain.account(`agent-${name}`)]
    const urls = services.map(
      ({ url }) =>
        () =>
          url,
    )
    await authorize({ chain, url: urls[0]! }, trader, agent, { ...UNLIMITED_SCOPE, dailySpendCapUsd })
    const clients = await Promise.all(urls.map((url) => createTradingClient({ devnet, chain, url }, trader, agent)))
    for (const client of clients) {
      await until('both know the agent', async (saw) => {
        const answer = await client.account('/orders', 'listOpenOrders')
        saw(answer.body)
        return answer.status === 200
      })
    }
    return clients
  }

  /** Creates an order. Who waited too long for a lock on a slow machine is told so (503), and asks again. */
  const create = (client: TradingClient, body: object): Promise<Answer> =>
    until('the order is answered', async () => {
      const answer = await client.request('createOrder', 'POST', '/orders', body)
      return answer.status === 503 ? undefined : answer
    })

  const race = (clients: readonly TradingClient[], body: object): Promise<Answer[]> =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, at) => create(clients[at % clients.length]!, body)))

  it('start at the same moment while it is empty', async () => {
    const settings = {
      ...SETTINGS,
      DATABASE_URL: await server.createDatabase('two'),
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    }
    services = await Promise.all(
      ['a', 'b'].map((name) => startService(devnet, { ...settings, BEZEL_DATA: join(folder, name) })),
    )
    const chain = createChainClient(devnet.file)
    await chain.control('bezel_freezePrice', 'BTC/USD', true)
    for (const { url } of services) await movePrice({ chain, url: () => url }, 'BTC/USD', '60000')
  })

  it('answer one clientId with one order', async () => {
    const answers = await race(await clientsOf('1', null), { ...LIMIT, clientId: 'the-same' })
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => b - a)
    assert.deepEqual(statuses, [201, ...Array.from({ length: AT_ONCE - 1 }, () => 200)])
    const ids = new Set(answers.map(({ body }) => body.order.id as string))
    assert.deepEqual(
      [...ids].join(),
      (await server.psql('two', `select id from orders where client_id = 'the-same'`)).trim(),
    )
  })

  it('spend the money of a cap once', async () => {
    const answers = await race(await clientsOf('2', String(ORDER_USD * FITTING + ORDER_USD / 2)), LIMIT)
    const accepted = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ body }) => body.code === 'SCOPE_SPEND_CAP_EXCEEDED')
    assert.deepEqual([accepted.length, refused.length], [FITTING, AT_ONCE - FITTING])
    const agent = createChainClient(devnet.file).account('agent-2').address
    const stored = await server.psql('two', `select count(*) from orders where agent = '${agent}'`)
    assert.equal(stored.trim(), String(FITTING))
  })

  it('are known to the database while they run, with their version, and no longer after a stop', async () => {
    const versions = `select version || ' ' || roles from nodes`
    const own = `${packageJson.version} api,follower,relayer,keeper`
    assert.equal(await server.psql('two', versions), `${own}\n${own}\n`)
    await services[1]!.stop()
    assert.equal(await server.psql('two', versions), `${own}\n`)
  })
})
