import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { describe, it } from 'node:test'
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

describe('the connections of a server', () => {
  it('are closed when too many wait for their first request, the one that waits longest first', async () => {
    const server = createServer((_request, response) => response.end('hello'))
    boundConnections(server, { maxConnections: 10, connectionsPerIp: 10, trustedProxies: 0 })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const sockets: Socket[] = []
    const open = async (request: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      const accepted = once(server, 'connection')
      await Promise.all([once(socket, 'connect'), accepted])
      socket.write(request)
      return socket
    }
    try {
      const asked = await open('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
      await once(asked, 'data')
      const waiting = [await open('GET / HT'), await open('')]
      const closed = once(waiting[0]!, 'close')
      const newest = await open('GET / HT')
      await closed
      newest.write('TP/1.1\r\nhost: x\r\n\r\n')
      await once(newest, 'data')
      assert.deepEqual(
        [asked, ...waiting, newest].map(({ closed: isClosed }) => isClosed),
        [false, true, false, false],
      )
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })
})
