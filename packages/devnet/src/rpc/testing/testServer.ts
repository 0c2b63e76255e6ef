import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { LocalChain, LocalChainOptions } from '../../chain/createLocalChain.ts'
import { createTestChain } from '../../chain/testing/testChain.ts'
import { createRpcServer, type RpcServer } from '../createRpcServer.ts'
import type { ExtraMethods } from '../respond.ts'

// Shared by the tests of rpc/.

export interface RpcReply {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

interface TestServer {
  chain: LocalChain
  server: RpcServer
  url: string
  wsUrl: string
  /** POSTs a body unchanged and returns the status and the parsed answer, undefined when it is empty. */
  post<Reply = RpcReply>(body: string, path?: string): Promise<{ status: number; reply: Reply }>
}

/** Starts a server with one chain at /test on a free port, closed after the test. */
export async function startTestServer(
  t: TestContext,
  options: Partial<LocalChainOptions> & { methods?: ExtraMethods } = {},
): Promise<TestServer> {
  const chain = await createTestChain(options)
  const server = createRpcServer({ chains: new Map([['test', chain]]), methods: options.methods ?? {} })
  const port = await server.listen(0)
  t.after(async () => {
    await server.close()
    await chain.stop()
  })
  const url = `http://127.0.0.1:${port}`
  return {
    chain,
    server,
    url,
    wsUrl: `ws://127.0.0.1:${port}/test`,
    async post<Reply = RpcReply>(body: string, path = '/test') {
      const response = await fetch(url + path, { method: 'POST', body })
      const text = await response.text()
      return { status: response.status, reply: (text === '' ? undefined : JSON.parse(text)) as Reply }
    },
  }
}

/** A message of the server: the reply to a request, or the push of a subscription. */
type SocketMessage = Partial<RpcReply> & Record<string, unknown>

interface TestSocket {
  socket: WebSocket
  /** All messages so far. */
  messages: SocketMessage[]
  send(text: string): void
  /** Resolves with the first message that fits. */
  waitFor(fits: (message: SocketMessage) => boolean): Promise<SocketMessage>
  request(method: string, params: readonly unknown[]): Promise<RpcReply>
  /** The results pushed for a subscription so far. */
  pushed(subscription: unknown): unknown[]
}

/** Opens a WebSocket, closed after the test. */
export async function openTestSocket(t: TestContext, wsUrl: string): Promise<TestSocket> {
  const socket = new WebSocket(wsUrl)
  t.after(() => socket.terminate())
  const messages: SocketMessage[] = []
  const wakers = new Set<() => void>()
  socket.on('message', (data: Buffer) => {
    messages.push(JSON.parse(data.toString()) as SocketMessage)
    wakers.forEach((wake) => wake())
  })
  await once(socket, 'open')
  let lastId = 0

  function waitFor(fits: (message: SocketMessage) => boolean): Promise<SocketMessage> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = messages.find(fits)
        if (found === undefined) return
        wakers.delete(look)
        resolve(found)
      }
      wakers.add(look)
      look()
    })
  }

  return {
    socket,
    messages,
    send: (text) => socket.send(text),
    waitFor,
    async request(method, params) {
      lastId += 1
      const id = `request-${lastId}`
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return (await waitFor((message) => message['id'] === id)) as RpcReply
    },
    pushed: (subscription) =>
      messages
        .map((message) => message['params'] as { subscription: unknown; result: unknown } | undefined)
        .filter((params) => params?.subscription === subscription)
        .map((params) => params?.result),
  }
}
