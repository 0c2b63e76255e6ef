import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { boundConnections, createNetworkPlaces } from './connections.ts'

describe('the places of a network', () => {
  it('are bounded per address, and given back', () => {
    const places = createNetworkPlaces(2)
    const free = places.take('10.0.0.1')
    assert.ok(free)
    assert.ok(places.take('10.0.0.1'))
    assert.equal(places.take('10.0.0.1'), undefined)
    assert.ok(places.take('10.0.0.2'))
    free()
    assert.ok(places.take('10.0.0.1'))
    assert.equal(places.take('10.0.0.1'), undefined)
  })

  it('are bounded for an IPv6 /48 too, whichever of its networks ask', () => {
    const places = createNetworkPlaces(2)
    const taken = Array.from({ length: 100 }, (_, at) => places.take(`2001:db8:1:${at.toString(16)}00::/64`))
    assert.equal(taken.filter((free) => free !== undefined).length, 8)
    assert.ok(places.take('2001:db8:2:1::/64'))
  })
})

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const POST = 'POST / HTTP/1.1\r\nhost: x\r\n'

describe('the connections of a server', () => {
  let server: Server
  let clients: Socket[]
  /** The server's sides of all connections, in the order in which they came. */
  let accepted: Socket[]

  // Of 10 connections 2 may be unfinished, and 5 idle.
  beforeEach(async () => {
    clients = []
    accepted = []
    server = createServer((request, response) => {
      if (request.url === '/wait') return
      if (request.url === '/late') setImmediate(() => response.end('late'))
      else if (request.url === '/read') request.resume().once('end', () => response.end('read'))
      else response.end('hello')
    })
    server.on('connection', (socket) => accepted.push(socket))
    boundConnections(server, { maxConnections: 10, connectionsPerIp: 10, trustedProxies: 0 })
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })

  afterEach(() => {
    for (const client of clients) client.destroy()
    server.closeAllConnections()
    server.close()
  })

  /** Opens a connection, and waits until the server has read what it sends. */
  async function open(part: string): Promise<Socket> {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => undefined)
    clients.push(client)
    const arrived = once(server, 'connection')
    await Promise.all([once(client, 'connect'), arrived])
    await send(client, part)
    return client
  }

  /** Sends bytes on a connection, and waits until the server has read them. */
  async function send(client: Socket, part: string): Promise<void> {
    const socket = accepted[clients.indexOf(client)]!
    const goal = socket.bytesRead + part.length
    client.write(part)
    await until('the server has read them', () => socket.bytesRead >= goal)
  }

  /** Opens a connection that is answered. */
  async function ask(request = GET): Promise<Socket> {
    const client = await open(request)
    if (client.readableLength === 0) await once(client, 'readable')
    client.read()
    return client
  }

  /** Says of each connection, in the order in which they came, whether it is open. */
  function areOpen(): boolean[] {
    return accepted.map(({ destroyed }) => !destroyed)
  }

  it('are closed when too many wait for their first request, the one that waits longest first', async () => {
    await ask()
    const parts = ['GET / HT', '', 'GET / HT']
    const newest = (await Array.fromAsync(parts, open)).at(-1)!
    await send(newest, GET.slice(parts[0]!.length))
    await once(newest, 'readable')
    assert.deepEqual(areOpen(), [true, false, true, true])
  })

  for (const [what, rest] of [
    ['with a length', `${POST}content-length: 9\r\n\r\nbody`],
    ['in chunks', `${POST}transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n`],
  ] as const) {
    it(`are closed when the bodies of too many do not end, ${what}, although they were answered once`, async () => {
      for (let n = 0; n < 4; n += 1) await send(await ask(), rest)
      assert.deepEqual(areOpen(), [false, false, true, true])
    })
  }

  for (const [what, first] of [
    ['that needs no body', GET],
    ['with its body', `${POST}content-length: 4\r\n\r\nbody`],
    ['that is answered later', 'GET /late HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nb'],
  ] as const) {
    it(`are closed when the bodies of too many do not end that came behind a request ${what}`, async () => {
      for (let n = 0; n < 4; n += 1) {
        const client = await open(`${first}${POST}content-length: 9\r\n\r\nbody`)
        if (client.readableLength === 0) await once(client, 'readable')
      }
      await until('those beyond the bound are closed', () => areOpen().filter(Boolean).length <= 2)
      assert.deepEqual(areOpen(), [false, false, true, true])
    })
  }

  for (const path of ['/', '/read']) {
    it(`stay open whose bodies have ended, answered at ${path} before or after`, async () => {
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n`
      for (let n = 0; n < 4; n += 1) {
        const client = await open(head)
        await send(client, 'body')
      }
      assert.deepEqual(areOpen(), [true, true, true, true])
    })
  }

  it('are closed when too many have their answer, the one that asked longest ago first', async () => {
    const first = await ask()
    for (let n = 0; n < 4; n += 1) await ask()
    await send(first, GET)
    await once(first, 'readable')
    // One that begins a second head has nothing under way either.
    await send(clients[1]!, 'GET / HT')
    await ask()
    assert.deepEqual(areOpen(), [true, false, true, true, true, true])
  })

  it('stay open while they wait for their answer, or were upgraded', async () => {
    server.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
    await open('GET /wait HTTP/1.1\r\nhost: x\r\n\r\n')
    await ask('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    for (let n = 0; n < 6; n += 1) await ask()
    assert.deepEqual(areOpen(), [true, true, false, false, true, true, true, true])
  })
})
