import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import { call, UNLIMITED_SCOPE, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startRedis, type RunningRedis } from '@bezel/testkit/startRedis.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient, domainOf, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { movePrice } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { BUSY } from '@bezel/testkit/untilSettled.ts'
import { installPostgres } from '../../scripts/installPostgres.ts'
import { installRedis } from '../../scripts/installRedis.ts'
import { blocksOf, runCommands } from './runbook.ts'
import { captureSigned, sendCaptured, type Captured } from '../cluster/captured.ts'

const LIMIT = { market: 'BTC/USD', side: 'long', type: 'limit', price: '50000', size: '0.02', leverage: '10' }
/** An order that the rules refuse. */
const TOO_SMALL = { ...LIMIT, size: '0.00001' }
/** Daily cap of an agent, and the orders of 1,000 USD that fit. */
const CAP_USD = '3500'
const FITTING_ORDERS = 3
const SETTINGS = {
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '1000000',
  BEZEL_AGENT_WRITE_LIMIT: '1000000',
  LOG_LEVEL: 'silent',
}

describe('two services that share a Redis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bezel-redis-'))
  let server: RunningPostgres
  let redis: RunningRedis
  let devnet: RunningDevnet
  let chain: ChainClient
  let services: readonly RunningService[] = []
  let client: TradingClient
  let domain: SigningDomain

  before(async () => {
    installPostgres()
    installRedis()
    server = await startPostgres()
    redis = await startRedis()
    await redis.stop()
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '150' })
    chain = createChainClient(devnet.file)
  })
  after(async () => {
    await Promise.all(services.map((service) => service.stop()))
    await devnet?.stop()
    await redis?.remove()
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const capture = (operation: string, method: string, rest: string, content?: object): Promise<Captured> =>
    captureSigned({ domain, agent: client.agent }, operation, method, rest, content)
  const captureRead = (): Promise<Captured> => {
    const rest = `/account/${client.trader.address}/orders`
    return capture('listOpenOrders', 'GET', rest)
  }
  const sendTo = (at: number, captured: Captured): Promise<Answer> => sendCaptured(services[at]!.url, captured)
  const warningOf = async (at: number): Promise<string | undefined> => {
    const { body } = await until('it is ready', async (saw) => {
      const answer = await call(services[at]!.url, '/ready')
      saw(answer.body)
      return answer.status === 200 ? answer : undefined
    })
    return body.redisWarning
  }
  const metric = async (at: number, name: string): Promise<number> => {
    const text = await (await fetch(`${services[at]!.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  }
  /** Sends new reads until one is accepted, and returns it with the reasons of those that were not. */
  const readAt = async (at: number): Promise<{ readonly read: Captured; readonly refused: Set<string> }> => {
    const refused = new Set<string>()
    const read = await until('a read is accepted', async (saw) => {
      const captured = await captureRead()
      const { status, body } = await sendTo(at, captured)
      saw(body)
      if (status === 200) return captured
      refused.add(body.details.reason ?? body.code)
      return undefined
    })
    return { read, refused }
  }

  /** Sends new reads to a node until one is accepted and both nodes told that it was used. None is accepted twice. */
  const readOnce = async (at: number): Promise<{ readonly read: Captured; readonly refused: Set<string> }> =>
    until('a repeated read is told to be used', async (saw) => {
      const accepted = await readAt(at)
      const answers = [await sendTo(0, accepted.read), await sendTo(1, accepted.read)]
      saw(answers.map(({ body }) => body))
      for (const { status, body } of answers) assert.ok(status >= 400, JSON.stringify(body))
      // A machine so slow that Redis seemed away has moved the place of used nonces, and nobody can tell.
      return answers.every(({ body }) => body.code === 'NONCE_REUSED') ? accepted : undefined
    })
  /** Sends new writes until one is answered as expected, and returns it. */
  const writeAt = (at: number, order: object, isExpected: (answer: Answer) => boolean): Promise<Captured> =>
    until('a write is answered as expected', async (saw) => {
      const write = await capture('createOrder', 'POST', '/orders', order)
      const answer = await sendTo(at, write)
      saw(answer.body)
      return isExpected(answer) ? write : undefined
    })
  const isTooSmall = ({ body }: Answer): boolean => body.code === 'SIZE_BELOW_MINIMUM'
  /** Sends a request again until it is told that it was used, as somebody who is answered 503 would. */
  const isUsed = (at: number, captured: Captured): Promise<unknown> =>
    until('the repeated request is refused', async (saw) => {
      const { status, body } = await sendTo(at, captured)
      saw(body)
      assert.ok(status >= 400, JSON.stringify(body))
      return body.code === 'NONCE_REUSED'
    })
  const [lookAtIt = '', lookAtServer = '', isOver = '', ...otherCommands] = blocksOf('docs/runbooks/redis-lost.md')
  /** Runs commands of the runbook beside a node. */
  const runHere = (at: number, commands: string): Promise<string> => {
    assert.deepEqual(otherCommands, [])
    const instead = { 'http://127.0.0.1:8081': services[at]!.url }
    const addresses = { DATABASE_URL: server.urlOf('shared'), REDIS_URL: redis.urlOf() }
    return runCommands(commands, { instead, etc: folder, addresses, data: join(folder, 'a') })
  }
  const keysOf = async (pattern: string): Promise<string[]> =>
    (await redis.command('KEYS', pattern)).split('\r\n').filter((line) => line.startsWith('bezel:'))
  /** Deletes everything but the mark that nothing was lost. */
  async function forgetNonces(): Promise<void> {
    for (const key of await keysOf('bezel:*')) if (!key.endsWith('epoch')) await redis.command('DEL', key)
  }
  /** Lets every window seem empty for long. */
  async function lowerWindows(): Promise<void> {
    for (const key of await keysOf('bezel:*:*:*')) await redis.command('SET', key, '-1000000')
  }
  /** Makes every key something that no script expects, and wakes nodes for chains that there are not. */
  async function spoilKeys(): Promise<void> {
    const keys = await keysOf('bezel:*')
    for (const key of keys) {
      await redis.command('DEL', key)
      await redis.command('RPUSH', key, 'forged')
    }
    for (const channel of (await redis.command('PUBSUB', 'CHANNELS')).match(/bezel:\S+/g) ?? []) {
      await redis.command('PUBLISH', channel, 'mars')
    }
  }

  it('start without it, with a warning, and use it once it is there', async () => {
    const settings = {
      ...SETTINGS,
      DATABASE_URL: await server.createDatabase('shared'),
      REDIS_URL: redis.urlOf(),
      BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json'),
    }
    services = await Promise.all(
      ['a', 'b'].map((name) => startService(devnet, { ...settings, BEZEL_DATA: join(folder, name) })),
    )
    for (const at of [0, 1]) {
      await until('the warning names the cause', async (saw) => {
        const warning = await warningOf(at)
        saw(warning)
        return /^Redis can't be used \(.*ECONNREFUSED.*\): each node/.test(warning ?? '')
      })
    }
    await chain.control('bezel_freezePrice', 'BTC/USD', true)
    for (const { url } of services) await movePrice({ chain, url: () => url }, 'BTC/USD', '60000')
    const url = (): string => services[0]!.url
    const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    await authorize({ chain, url }, trader, agent, UNLIMITED_SCOPE)
    client = await createTradingClient({ devnet, chain, url }, trader, agent)
    domain = await domainOf(url())
    for (const at of [0, 1]) await readAt(at)
    await redis.start()
    for (const at of [0, 1]) {
      await until('the warning is gone', async () => (await warningOf(at)) === undefined)
      await until('nonces are in Redis', async () => (await metric(at, 'bezel_redis_nonces_in_store')) === 0)
    }
  })

  it('accept a read once, and a write that was refused never again', async () => {
    await readOnce(0)
    const write = await writeAt(0, TOO_SMALL, isTooSmall)
    for (const at of [0, 1]) await isUsed(at, write)
  })

  it('accept no write twice and pass no cap, whatever somebody writes into Redis', async () => {
    const url = (): string => services[0]!.url
    const [trader, agent] = [chain.account('trader-2'), chain.account('agent-2')]
    await authorize({ chain, url }, trader, agent, { ...UNLIMITED_SCOPE, dailySpendCapUsd: CAP_USD })
    const order = (): Promise<Captured> => captureSigned({ domain, agent }, 'createOrder', 'POST', '/orders', LIMIT)
    const accepted: Captured[] = []
    const forgeries = [forgetNonces, lowerWindows, spoilKeys, () => redis.command('FLUSHALL')]
    for (const forge of forgeries) {
      await until('an order is accepted, or passes the cap', async (saw) => {
        const asked = await order()
        const { status, body } = await sendTo(accepted.length % 2, asked)
        saw(body)
        if (status === 201) accepted.push(asked)
        return status === 201 || body.code === 'SCOPE_SPEND_CAP_EXCEEDED'
      })
      await forge()
      for (const used of accepted) {
        for (const at of [0, 1]) await isUsed(at, used)
      }
    }
    assert.equal(accepted.length, FITTING_ORDERS)
    const stored = await server.psql(
      'shared',
      `select count(*) from orders where lower(trader) = '${trader.address.toLowerCase()}'`,
    )
    assert.equal(stored.trim(), String(FITTING_ORDERS))
    for (const at of [0, 1]) {
      await until('it is used again', async () => (await metric(at, 'bezel_redis_nonces_in_store')) === 0)
    }
  })

  it('tell whoever scrapes them nothing of a trader, and no secret', async () => {
    const secrets = [client.trader.address, client.agent.address, ...devnet.file.accounts.map((of) => of.privateKey)]
    for (const { url } of services) {
      const text = (await (await fetch(`${url}/metrics`)).text()).toLowerCase()
      assert.match(text, /^bezel_http_requests_total\{operation="createorder"/m)
      for (const secret of secrets) assert.ok(!text.includes(secret.slice(2).toLowerCase()), secret)
      for (const place of [server.urlOf('shared'), redis.urlOf()]) assert.ok(!text.includes(place), place)
    }
  })

  it('go on without it: writes at once, reads after a moment, and nothing twice', async () => {
    const { read: earlier } = await readAt(0)
    const requests = await metric(0, 'bezel_redis_requests_total')
    assert.ok(requests > 0)
    await redis.stop()
    await until('it is noticed', async () => (await metric(0, 'bezel_redis_up')) === 0)
    await isUsed(1, await writeAt(0, LIMIT, ({ status }) => status === 201))
    assert.match(await runHere(0, lookAtIt), /"redisWarning":"Redis can't be used[\s\S]*bezel_redis_up 0$/m)
    for (const at of [0, 1]) {
      const { refused } = await readOnce(at)
      assert.deepEqual(
        [...refused].filter((reason) => !BUSY.includes(reason)),
        [],
      )
      assert.match((await warningOf(at))!, /^Redis can't be used/)
      assert.notEqual((await sendTo(at, earlier)).status, 200)
    }
    await isUsed(1, await writeAt(0, TOO_SMALL, isTooSmall))
    assert.ok((await metric(0, 'bezel_redis_failures_total')) > 0)
  })

  it('return to it by themselves, and still accept nothing twice', async () => {
    const { read: inStore } = await readAt(1)
    await redis.start()
    assert.match(await runHere(1, lookAtServer), /^PONG\r?\nmaxmemory_policy:noeviction\r?\n$/)
    for (const at of [0, 1]) {
      await until('nonces are in Redis', async () => {
        const printed = await runHere(at, isOver).catch(() => '')
        return printed.trim().split('\n').length === 2
      })
      await until('the warning is gone', async () => (await warningOf(at)) === undefined)
      assert.notEqual((await sendTo(at, inStore)).status, 200)
      await readOnce(at)
    }
  })
})
