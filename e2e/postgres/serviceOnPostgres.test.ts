import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

describe('the service on PostgreSQL', () => {
  let server: RunningPostgres
  let proxy: TcpProxy
  let world: TradingWorld
  let client: TradingClient
  /** Orders that were acknowledged, by client id. */
  const acknowledged = new Map<string, string>()

  before(async () => {
    installPostgres()
    server = await startPostgres({ isDurable: true })
    await server.createDatabase('bezel')
    proxy = await startProxy(server.port)
    world = await startTradingWorld({ service: { DATABASE_URL: server.urlOf('bezel', proxy.port) } })
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(async () => {
    await world?.stop()
    await proxy?.close()
    await server?.remove()
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
  const publicRead = async (): Promise<number> => (await fetch(`${world.url()}/v1/arbitrum-sepolia/prices`)).status

  it('leads an agent to a filled order, and keeps nothing in the data folder', async () => {
    const filled = await client.trade({ ...MARKET, clientId: 'first' }, 'filled')
    acknowledged.set('first', filled.id)
    assert.equal((await client.account('/positions', 'listPositions')).body.data.length, 1)
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
  ] as const) {
    it(`says so when PostgreSQL ${name}, answers public reads, and goes on afterwards`, async () => {
      await createOnce(`before-${tag}`)
      const waiting = await client.prepare({ ...MARKET, clientId: `during-${tag}` })
      acknowledged.set(`during-${tag}`, waiting.order.id)
      await fail()
      try {
        await client.broadcast(waiting.transaction)
        const refused = await create(`refused-${tag}`)
        assert.deepEqual([refused.status, refused.body.details?.reason], [503, 'store_unavailable'])
        assert.equal(await publicRead(), 200)
      } finally {
        await mend()
      }
      await createOnce(`after-${tag}`)
      await client.orderOnce(waiting.order.id, ({ status }) => status === 'filled')
    })
  }

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
    for (const id of acknowledged.values()) assert.equal((await client.order(id)).id, id)
    assert.equal(listed.trim().split('\n').length, stored.size)
  })
})
