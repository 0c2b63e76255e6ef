import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { until } from '@bezel/testkit/until.ts'
import { CHAIN, GOOD_KEY, startStreamWorld, TRADER, type StreamWorld } from '../testing/streamWorld.ts'

const PATH = `/v1/${CHAIN}/ws`

function bodyOf(answer: string): { code: string; details?: Record<string, unknown> } {
  return JSON.parse(answer.split('\r\n\r\n')[1]!)
}

describe('the upgrade', () => {
  let world: StreamWorld
  beforeEach(async () => void (world = await startStreamWorld({ bounds: { maxSockets: 4, maxSocketsPerIp: 3 } })))
  afterEach(() => world.close())

  it('greets with the chain and the heartbeat, names the request, and declines compression', async () => {
    const client = await world.connect()
    deepEqual(await client.next(), { op: 'hello', chain: CHAIN, heartbeatMs: 15_000 })
    equal(world.counts.sockets, 1)
    deepEqual(world.statuses, [101])
    const socket = await world.raw(false)
    socket.write(
      `GET ${PATH}?v=1 HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: WebSocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nx-request-id: mine\r\nsec-websocket-extensions: permessage-deflate\r\n\r\n`,
    )
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    match(answer, /^HTTP\/1\.1 101 [\s\S]*x-request-id: mine\r\n/)
    doesNotMatch(answer, /sec-websocket-extensions/i)
    socket.destroy()
  })

  it('is refused as any request is: unknown chains, other paths, bad handshakes', async () => {
    const cases: readonly [path: string, headers: Record<string, string>, status: number, code: string][] = [
      ['/v1/arbitrum/ws', {}, 404, 'CHAIN_NOT_FOUND'],
      ['/v1/nowhere/ws', {}, 404, 'CHAIN_NOT_FOUND'],
      ['/v1/__proto__/ws', {}, 404, 'CHAIN_NOT_FOUND'],
      [`/v1/${CHAIN}/wss`, {}, 404, 'NOT_FOUND'],
      [`/v1/${CHAIN}/ws/more`, {}, 404, 'NOT_FOUND'],
      ['/', {}, 404, 'NOT_FOUND'],
      [PATH, { 'sec-websocket-key': 'short' }, 400, 'VALIDATION_ERROR'],
      [PATH, { 'sec-websocket-version': '7' }, 400, 'VALIDATION_ERROR'],
      [PATH, { 'sec-websocket-protocol': ',' }, 400, 'VALIDATION_ERROR'],
      [PATH, { key: 'gk_bad' }, 401, 'API_KEY_UNKNOWN'],
    ]
    for (const [path, headers, status, code] of cases) {
      const answer = await world.upgrade(path, headers)
      match(answer, new RegExp(`^HTTP/1.1 ${status} `), path)
      match(answer, /\r\nx-request-id: [\w-]+\r\n/)
      match(answer, /\r\nRateLimit-Remaining: \d+\r\n/)
      equal(bodyOf(answer).code, code, path)
    }
    equal(world.counts.sockets, 0)
  })

  it('takes credentials', async () => {
    const client = await world.connect({ key: GOOD_KEY })
    equal((await client.next()).op, 'hello')
    deepEqual(await client.next(), { op: 'authenticated', trader: TRADER, via: 'apiKey' })
    equal((await client.ask({ op: 'subscribe', channel: 'orders' })).op, 'subscribed')
  })

  it('has so many places for an IP, which are given back', async () => {
    const clients = [await world.connect(), await world.connect(), await world.connect()]
    const answer = await world.upgrade(PATH)
    match(answer, /^HTTP\/1\.1 429 [\s\S]*\r\nRetry-After: \d+\r\n/)
    deepEqual(ownDetails(bodyOf(answer).details), { scope: 'ip' })
    clients[0]!.socket.close()
    await until('the place is free', () => world.counts.sockets === 2)
    await world.connect()
  })

  it('leaves other protocols to HTTP', async () => {
    const answer = await world.upgrade('/x', { upgrade: 'h2c', connection: 'Upgrade, close' })
    match(answer, /^HTTP\/1\.1 200 [\s\S]*http/)
  })

  it('survives clients that go away in the middle', async () => {
    for (const text of ['GET ', `GET ${PATH} HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`]) {
      const socket = await world.raw(false)
      socket.write(text)
      socket.resetAndDestroy()
    }
    equal((await (await world.connect()).next()).op, 'hello')
  })
})

it('counts an upgrade as a request of its IP, and an auth too', async () => {
  const world = await startStreamWorld({ ipLimit: 2 })
  const client = await world.connect()
  await client.next()
  equal((await client.ask({ op: 'auth', apiKey: 'gk_bad' })).code, 'API_KEY_UNKNOWN')
  equal((await client.ask({ op: 'auth', apiKey: GOOD_KEY })).code, 'RATE_LIMITED')
  const answer = await world.upgrade(PATH)
  match(answer, /^HTTP\/1\.1 429 [\s\S]*\r\nRateLimit-Remaining: 0\r\n[\s\S]*\r\nRetry-After: \d+\r\n/)
  equal(bodyOf(answer).code, 'RATE_LIMITED')
  await world.close()
})

it('has so many places in all', async () => {
  const world = await startStreamWorld({ bounds: { maxSockets: 1 } })
  await world.connect()
  const answer = await world.upgrade(PATH)
  match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/)
  equal(bodyOf(answer).code, 'NOT_READY')
  await world.close()
})

describe('the end of the service', () => {
  it('says goodbye, and waits for nobody who does not answer', async () => {
    const world = await startStreamWorld()
    const client = await world.connect()
    const deaf = await world.raw(true)
    deaf.pause()
    let isClosed = false
    const closed = world.close().then(() => (isClosed = true))
    equal(await client.closed, 1012)
    await until('the service is closed', () => isClosed)
    await closed
    equal(world.counts.sockets, 0)
    equal(world.sources.listeners(), 0)
    await rejects(world.connect())
    deaf.destroy()
  })
})
