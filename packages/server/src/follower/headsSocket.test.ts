import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { WebSocketServer } from 'ws'
import { openHeadsSocket } from './headsSocket.ts'

describe('a subscription to heads', () => {
  const closing: (() => void)[] = []
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  /** Starts a node that accepts subscriptions and pushes nothing, and counts them. */
  async function startNode(): Promise<{ readonly url: string; subscriptions: number }> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await new Promise<void>((listening) => server.once('listening', listening))
    const node = { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, subscriptions: 0 }
    server.on('connection', (socket) =>
      socket.on('message', () => {
        node.subscriptions += 1
        socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
      }),
    )
    closing.push(() => {
      for (const client of server.clients) client.terminate()
      server.close()
    })
    return node
  }

  it('goes to the next address when it is silent, and round to the first again', async () => {
    const nodes = [await startNode(), await startNode()]
    const socket = openHeadsSocket({ urls: nodes.map(({ url }) => url), random: () => 0, onHead: () => undefined })
    closing.push(socket.close)
    for (const wanted of [
      [1, 0],
      [1, 1],
      [2, 1],
    ]) {
      const isThere = () => socket.isUp() && nodes.every(({ subscriptions }, at) => subscriptions === wanted[at])
      await until(`there were ${wanted.join(' and ')} subscriptions`, isThere)
      socket.reconnect()
      await until('it is lost', () => !socket.isUp())
    }
  })

  it('comes back to the only address', async () => {
    const node = await startNode()
    const socket = openHeadsSocket({ urls: [node.url], random: () => 0, onHead: () => undefined })
    closing.push(socket.close)
    await until('it is subscribed', socket.isUp)
    socket.reconnect()
    await until('it is lost', () => !socket.isUp())
    await until('it is subscribed again', socket.isUp)
    assert.equal(node.subscriptions, 2)
  })
})
