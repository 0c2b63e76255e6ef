import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import {
  connectFacade,
  info,
  MARKET,
  placeOnFacade,
  readEverything,
  RESTING,
  sendEnvelope,
  startOperator,
  type FacadeTrader,
  type ServiceSettings,
} from './usedDeployment.ts'

const CLOIDS = [1, 2].map((digit) => `0x${String(digit).repeat(32)}`) as [string, string]
/** Delay of the proxy with which a copy takes seconds. */
const SLOW_MS = 8
/** Tables that are copied when the copy is killed. */
const TABLES_BEFORE_KILL = 6

/** The life of a deployment that moves from SQLite to PostgreSQL. Each story continues where the last one ended. */
describe('a used deployment that is copied to PostgreSQL', () => {
  const settings: ServiceSettings = {}
  let server: RunningPostgres
  let proxy: TcpProxy
  let world: FacadeWorld
  let client: TradingClient
  let facade: FacadeTrader
  let copied: Record<string, unknown>

  before(async () => {
    installPostgres()
    server = await startPostgres({ isDurable: true })
    await server.createDatabase('bezel')
    proxy = await startProxy(server.port)
    world = await startFacadeWorld({ service: settings })
    client = await world.clientOf('trader-1', 'agent-1')
    facade = await connectFacade(world, 'trader-2', 'agent-2')
  })
  after(async () => {
    await world?.stop()
    await proxy?.close()
    await server?.remove()
  })

  const copy = (port = server.port) =>
    startOperator({ BEZEL_DATA: world.devnet.folder, DATABASE_URL: server.urlOf('bezel', port) }, 'copy')
  const refusal = async (): Promise<string> => {
    const { code, out, err } = await copy().ended
    assert.deepEqual([code, out], [1, ''])
    return err
  }

  it('is used: positions, orders of all ends, a log, agents, and a trader on the facade', async () => {
    await client.trade({ ...MARKET, clientId: 'held' }, 'filled')
    await client.trade({ ...RESTING, clientId: 'resting' }, 'open')
    const { order } = await client.prepare({ ...RESTING, clientId: 'withdrawn' })
    await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
    await placeOnFacade(world, facade, { price: '50000', cloid: CLOIDS[0] })
    copied = await until('everything is told and quiet', async () => {
      const { body } = await client.account('/audit', 'listAudit')
      if (!JSON.stringify(body).includes('delegation_seen')) return undefined
      const first = await readEverything(world, client, facade, CLOIDS[0])
      const second = await readEverything(world, client, facade, CLOIDS[0])
      return JSON.stringify(first) === JSON.stringify(second) ? second : undefined
    })
  })

  it('is refused while its service runs, and the service is refused beside the store that is not copied', async () => {
    assert.match(await refusal(), /is in use by another service: stop that one first/)
    await world.stopService()
    settings['DATABASE_URL'] = server.urlOf('bezel')
    await assert.rejects(world.startService(), /the service ended with 1/)
    const { code, err } = await startOperator({ BEZEL_DATA: world.devnet.folder }, 'copy').ended
    assert.deepEqual([code, /^Set DATABASE_URL to the empty database/m.test(err)], [1, true])
  })

  it('is copied in spite of a kill in the middle, and compared', async () => {
    proxy.delayMs = SLOW_MS
    const killed = copy(proxy.port)
    await until('some tables are copied', async (saw) => {
      const text = await server.psql('bezel', `select coalesce(to_regclass('copy_progress')::text, '')`)
      if (text.trim() === '') return false
      const done = Number(await server.psql('bezel', 'select count(*) from copy_progress where is_done = 1'))
      saw(done)
      return done >= TABLES_BEFORE_KILL
    })
    killed.child.kill('SIGKILL')
    await killed.ended
    const left = Number(await server.psql('bezel', 'select count(*) from copy_progress where is_done = 0'))
    assert.ok(left > 0, 'it was killed in the middle')
    const { code, out, err } = await copy().ended
    assert.equal(code, 0, out + err)
    assert.match(err, /^The copy goes on where it ended\.$/m)
    assert.match(out, /^orders +4 +4 {2}[0-9a-f]+-[0-9a-f]+$/m)
    assert.match(out, /rows of \d+ tables are copied, and both sides have the same sums/)
    assert.deepEqual(
      ['bezel.db', 'bezel.copied.db'].map((name) => existsSync(join(world.devnet.folder, name))),
      [false, true],
    )
  })

  it('answers the same from PostgreSQL, and is not started without it', async () => {
    await world.startService()
    const now = await readEverything(world, client, facade, CLOIDS[0])
    for (const name of Object.keys(copied)) assert.deepEqual(now[name], copied[name], name)
    assert.match(await refusal(), /was copied to PostgreSQL/)
  })

  it('goes on trading, with ids above the old ones', async () => {
    const listed = (await client.account('/orders/history', 'listOrderHistory')).body.data as { id: string }[]
    const repeat = await client.request('createOrder', 'POST', '/orders', { ...MARKET, clientId: 'held' })
    assert.equal(repeat.status, 200, JSON.stringify(repeat.body))
    const filled = await client.trade({ ...MARKET, clientId: 'after' }, 'filled')
    for (const { id } of listed) assert.ok(BigInt(filled.id) > BigInt(id), `${filled.id} is above ${id}`)
    assert.equal((await client.account('/positions', 'listPositions')).body.data.length, 2)
    const envelope = await placeOnFacade(world, facade, { price: '49000', cloid: CLOIDS[1] })
    assert.match(await sendEnvelope(world, envelope), /"status":"err"/)
    const open = (await info(world, { type: 'openOrders', user: facade.address })) as { cloid: string }[]
    assert.deepEqual(open.map(({ cloid }) => cloid).toSorted(), CLOIDS)
  })

  it('follows the commands of its operator, who works beside it', async () => {
    const env = { BEZEL_DATA: world.devnet.folder, DATABASE_URL: server.urlOf('bezel') }
    const operator = async (...words: string[]): Promise<string> => {
      const { code, out, err } = await startOperator(env, ...words).ended
      assert.equal(code, 0, out + err)
      assert.equal(err, 'In the database of DATABASE_URL:\n')
      return out
    }
    const create = (clientId: string) =>
      client.request('createOrder', 'POST', '/orders', { ...RESTING, clientId }).then(({ status, body }) => {
        return body.details?.reason ?? status
      })
    /** Fills without their ids, which those that were deleted do not get back. */
    const fills = async (): Promise<unknown[]> => {
      const { data } = (await client.account('/fills', 'listFills')).body as { data: Record<string, unknown>[] }
      return data.map((fill) => ({ ...fill, id: undefined }))
    }

    await operator('pause', 'writes', 'arbitrum-sepolia', '--reason', 'upgrade')
    await until('writes are paused', async () => (await create('paused')) === 'paused')
    assert.match(await operator('status'), /^arbitrum-sepolia writes: paused \(upgrade\)\. Since /)
    await operator('resume', 'writes', 'arbitrum-sepolia')
    await until('writes are resumed', async () => (await create('resumed')) !== 'paused')
    await operator('budget', 'arbitrum-sepolia', '--day', '2')
    assert.match(await operator('status'), /gas of all traders a day: 2 of the native token/)

    const known = await fills()
    const bounds = await server.psql('bezel', 'select min(block_number), max(block_number) from fills')
    const [from, to] = bounds.trim().split('|') as [string, string]
    await server.psql('bezel', 'delete from fills')
    assert.deepEqual(await fills(), [])
    await operator('reindex', from, to)
    await until('the blocks are read again', async (saw) => {
      const told = await operator('status')
      saw(told)
      return / blocks \d+ to \d+: read again; something was missed in [1-9]\d* of them/.test(told)
    })
    assert.deepEqual(await fills(), known)

    await operator('reread', client.trader.address)
    await until('the trader is proven again', async (saw) => {
      const told = await operator('status')
      saw(told)
      return !told.includes('not everything on the chain is known')
    })
    assert.deepEqual(await fills(), known)
  })
})
