import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import { call, send, signedGet, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = '/v1/arbitrum-sepolia'

let devnet: RunningDevnet

before(async () => {
  devnet = await startDevnet()
})
after(() => devnet?.stop())

/** Starts a service of its own over the chain, with a data folder of this name. */
function startOwn(name: string, settings: Record<string, string>): Promise<RunningService> {
  const files = { BEZEL_DATA: `${devnet.folder}/${name}`, BEZEL_CHAINS_FILE: `${devnet.folder}/devnet.json` }
  return startService(devnet, { ...files, ...settings })
}

describe('the limits of an IPv6 network', () => {
  let service: RunningService

  before(async () => {
    service = await startOwn('networks', { BEZEL_TRUSTED_PROXIES: '1', BEZEL_IP_LIMIT: '10' })
  })
  after(() => service?.stop())

  const from = (ip: string): Promise<Answer> =>
    call(service.url, `${CHAIN}/markets/BTC-USD`, { headers: { 'x-forwarded-for': ip } })

  /** Returns how many of a number of requests are answered, all in one window. */
  async function answered(requests: number, ipAt: (nth: number) => string): Promise<number> {
    return until('all requests fall into one window', async () => {
      const window = Math.floor(Date.now() / 60_000)
      const answers: Answer[] = []
      for (let nth = 0; nth < requests; nth += 1) answers.push(await from(ipAt(nth)))
      if (Math.floor(Date.now() / 60_000) !== window) return undefined
      return answers.filter(({ status }) => status !== 429).length
    })
  }

  it('are those of one client for a /64, of two for a /56, of four for a /48, whatever addresses it uses', async () => {
    const hex = (value: number): string => value.toString(16)
    assert.equal(await answered(30, (nth) => `2001:db8:a:1::${hex(nth)}`), 10)
    assert.equal(await answered(50, (nth) => `2001:db8:b:ab${hex(16 + nth)}::1`), 20)
    assert.equal(await answered(80, (nth) => `2001:db8:c:${hex(nth * 256)}::1`), 40)
    const refused = await from('2001:db8:c:ffff::1')
    assert.deepEqual([refused.status, refused.body.details.scope], [429, 'ip'])
    assert.equal(refused.headers.get('ratelimit-limit'), '40')
    assert.equal((await from('2001:db8:d::1')).status, 200, 'another /48')
    assert.equal((await from('203.0.113.7')).status, 200, 'IPv4')
  })
})

describe('a service with more to do than it can', () => {
  let service: RunningService
  let chain: ChainClient
  let domain: SigningDomain

  before(async () => {
    // Thresholds that every work exceeds.
    const settings = { BEZEL_OVERLOAD_PERCENT: '1', BEZEL_OVERLOAD_WAIT_MS: '1', BEZEL_IP_LIMIT: '1000000' }
    service = await startOwn('busy', { ...settings, BEZEL_AGENT_LIMIT: '1000000' })
    chain = createChainClient(devnet.file)
    domain = (await call(service.url, CHAIN)).body.signing.domain
    // A registration may be shed too.
    await until('the agent is registered', () =>
      authorize({ chain, url: () => service.url }, chain.account('trader-1'), chain.account('agent-1')).then(
        () => true,
        () => false,
      ),
    )
    await until('the agent may read', async () => (await readPositions()).status === 200)
  })
  after(() => service?.stop())

  const readPositions = (): Promise<Answer> => {
    const path = `${CHAIN}/account/${chain.account('trader-1').address}/positions`
    return signedGet(service.url, domain, chain.account('agent-1'), 'listPositions', path)
  }

  async function cancel(): Promise<Answer> {
    const path = `${CHAIN}/orders/123`
    const headers = await signedHeaders(domain, chain.account('agent-1'), {
      operation: 'cancelOrder',
      method: 'DELETE',
      path,
    })
    return call(service.url, path, { method: 'DELETE', headers })
  }

  it('refuses anonymous requests first, and still answers signed ones and its health', async () => {
    const refused = await until('an anonymous request is shed', async () => {
      const asked = await Promise.all(Array.from({ length: 40 }, () => call(service.url, `${CHAIN}/markets`)))
      return asked.find(({ status }) => status === 503)
    })
    assert.deepEqual([refused.body.code, refused.body.details.reason], ['NOT_READY', 'overloaded'])
    assert.equal(refused.headers.get('retry-after'), '1')
    for (const path of ['/hl/arbitrum-sepolia/info', `${CHAIN}/agents`, `${CHAIN}/api-keys`]) {
      const shed = await until(`${path} is shed`, async () => {
        const ask = (): Promise<Answer> => send(service.url, 'POST', path, { type: 'meta' })
        return (await Promise.all(Array.from({ length: 40 }, ask))).find(({ status }) => status === 503)
      })
      assert.equal(shed.body.details.reason, 'overloaded')
    }
    for (let i = 0; i < 20; i += 1) {
      assert.equal((await readPositions()).status, 200)
      assert.equal((await cancel()).body.code, 'ORDER_NOT_FOUND')
      // What ends an agent is never shed, whoever sends it.
      assert.equal((await send(service.url, 'DELETE', `${CHAIN}/agents/0x${'11'.repeat(20)}`, {})).status, 400)
      assert.equal((await call(service.url, '/health')).status, 200)
    }
  })

  it('lets no cache store what only the caller may see', async () => {
    assert.equal((await readPositions()).headers.get('cache-control'), 'no-store')
    assert.equal((await cancel()).headers.get('cache-control'), 'no-store')
    const unsigned = await call(service.url, `${CHAIN}/account/${chain.account('trader-1').address}`)
    assert.deepEqual([unsigned.status, unsigned.headers.get('cache-control')], [401, 'no-store'])
    assert.equal((await call(service.url, '/health')).headers.get('cache-control'), null)
  })
})

describe('connections', () => {
  let service: RunningService

  before(async () => {
    service = await startOwn('connections', { BEZEL_CONNECTIONS_PER_IP: '6', BEZEL_IP_LIMIT: '100000' })
  })
  after(() => service?.stop())

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }

  /** Returns true when a request on a connection is answered, false when the connection is closed instead. */
  function isServed(socket: Socket): Promise<boolean> {
    socket.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n')
    return new Promise((resolve) => {
      socket.once('data', (bytes) => resolve(String(bytes).startsWith('HTTP/1.1 200')))
      socket.once('close', () => resolve(false))
    })
  }

  it('of one address are bounded, and one that ends makes room', async () => {
    const served: Socket[] = []
    let last = await open()
    while (await isServed(last)) {
      served.push(last)
      last = await open()
    }
    // Connections that this test's own client keeps are among them.
    assert.ok(served.length > 0 && served.length <= 6, `${served.length}`)
    served[0]!.destroy()
    await until('there is room again', async () => {
      const another = await open()
      const isRoom = await isServed(another)
      another.destroy()
      return isRoom
    })
    for (const socket of served) socket.destroy()
  })

  it('that send nothing, or not all of it, are ended after ten seconds and charged', async () => {
    const beginnings = ['', 'GET /health HTTP/1.1\r\nhost: a\r\nx-slow: ', 'POST /hl/a/info HTTP/1.1\r\nhost: a\r\n']
    const body = 'content-type: application/json\r\ncontent-length: 100\r\n\r\n{'
    const startedMs = Date.now()
    const left = async (): Promise<number> =>
      Number((await call(service.url, '/health').catch(() => undefined))?.headers.get('ratelimit-remaining') ?? 0)
    const leftFirst = await until('the connections of before are closed', left)
    const held = await Promise.all(
      [...beginnings.slice(0, 2), beginnings[2]! + body].map(async (text) => {
        const socket = await open()
        socket.write(text)
        socket.resume()
        await once(socket, 'close')
        return Date.now() - startedMs
      }),
    )
    // Half of what such connections were held before the timeout was looked after.
    for (const heldMs of held) assert.ok(heldMs > 9_000 && heldMs < 20_000, `${held}`)
    const leftThen = await left()
    const isSameWindow = Math.floor(startedMs / 60_000) === Math.floor(Date.now() / 60_000)
    if (isSameWindow) assert.ok(leftFirst - leftThen >= 4, `${leftFirst} - ${leftThen}`)
  })
})
