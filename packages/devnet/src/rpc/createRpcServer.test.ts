import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { RpcError } from '../chain/jsonRpc.ts'
import { SENDER, signEmit } from '../chain/testing/testChain.ts'
import { createRpcServer } from './createRpcServer.ts'
import { RPC_LIMITS } from './respond.ts'
import { openTestSocket, startTestServer, type RpcReply } from './testing/testServer.ts'

function body(method: string, params: readonly unknown[] = [], id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

test('a single request is answered with its id', async (t) => {
  const { post } = await startTestServer(t)
  const { status, reply } = await post(body('eth_chainId', [], 'abc'))
  assert.equal(status, 200)
  assert.deepEqual(reply, { jsonrpc: '2.0', id: 'abc', result: '0x66eee' })
})

test('a batch mixes reads, sends and mining in order, and an unknown method spoils nothing', async (t) => {
  const { post } = await startTestServer(t)
  const requests = [
    body('eth_blockNumber'),
    body('no_such', [], 2),
    body('eth_sendRawTransaction', [await signEmit(0)], 3),
    body('evm_mine', [], 4),
    body('eth_blockNumber', [], 5),
    body('eth_getTransactionCount', [SENDER.address, 'latest'], 6),
  ]
  const { reply: replies } = await post<RpcReply[]>(`[${requests.join(',')}]`)
  assert.deepEqual(
    replies.map(({ id }) => id),
    [1, 2, 3, 4, 5, 6],
  )
  assert.equal(replies[0]?.result, '0x0')
  assert.equal(replies[1]?.error?.code, -32601)
  assert.deepEqual([replies[4]?.result, replies[5]?.result], ['0x1', '0x1'])
})

test('a batch of notifications is answered with 204 and no body', async (t) => {
  const { post, chain } = await startTestServer(t)
  const { status, reply } = await post('[{"jsonrpc":"2.0","method":"evm_mine"}]')
  assert.deepEqual([status, reply], [204, undefined])
  assert.equal(chain.head().number, 1)
})

test('an unknown chain is a 404 that names the chains there are', async (t) => {
  const { post } = await startTestServer(t)
  for (const path of ['/nope', '/test/deeper', '/', '/..%2f', '/__proto__']) {
    const { status, reply } = await post(body('eth_chainId'), path)
    assert.equal(status, 404)
    assert.match(reply.error?.message ?? '', /served are \/test$/)
  }
})

test('GET says what is served, other methods are refused', async (t) => {
  const { url } = await startTestServer(t)
  const root = (await (await fetch(url)).json()) as { chains: unknown }
  assert.deepEqual(root.chains, { test: { chainId: 421_614, path: '/test' } })
  assert.equal((await fetch(`${url}/test`)).status, 405)
  assert.equal((await fetch(`${url}/test`, { method: 'DELETE' })).status, 405)
})

test('pages of other origins may call it', async (t) => {
  const { url } = await startTestServer(t)
  const preflight = await fetch(`${url}/test`, { method: 'OPTIONS', headers: { origin: 'http://page.example' } })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
  const answer = await fetch(`${url}/test`, { method: 'POST', body: body('eth_chainId') })
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
})

test('the path may end with a slash or carry a query', async (t) => {
  const { post } = await startTestServer(t)
  for (const path of ['/test/', '/test?key=1', '/test/?key=1']) {
    assert.equal((await post(body('eth_chainId'), path)).reply.result, '0x66eee')
  }
})

test('a body over the limit is refused with 413', async (t) => {
  const { post } = await startTestServer(t)
  const { status, reply } = await post(' '.repeat(RPC_LIMITS.maxBodyBytes + 1))
  assert.equal(status, 413)
  assert.match(reply.error?.message ?? '', /longer than 5000000 bytes/)
})

test('a client that goes away in the middle of its body harms nobody', async (t) => {
  const { url, post } = await startTestServer(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /test HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"jsonrpc"')
  socket.destroy()
  await once(socket, 'close')
  assert.equal((await post(body('eth_chainId'))).reply.result, '0x66eee')
})

test('bytes that are no HTTP are refused and the server goes on', async (t) => {
  const { url, post } = await startTestServer(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.end('\u0016\u0003\u0001 hello\r\n\r\n')
  socket.resume()
  await once(socket, 'close')
  assert.equal((await post(body('eth_chainId'))).reply.result, '0x66eee')
})

test('extra methods get the chain and the params, and their errors go out', async (t) => {
  const { post } = await startTestServer(t, {
    methods: {
      bezel_echo: (chain, params) => [chain.slug, ...params],
      bezel_nothing: () => undefined,
      bezel_refuse: () => {
        throw new RpcError(-32602, 'no such symbol')
      },
      bezel_break: async () => {
        throw new TypeError('broken')
      },
    },
  })
  assert.deepEqual((await post(body('bezel_echo', [1, 'a']))).reply.result, ['test', 1, 'a'])
  assert.equal((await post(body('bezel_nothing'))).reply.result, null)
  assert.deepEqual((await post(body('bezel_refuse'))).reply.error, { code: -32602, message: 'no such symbol' })
  assert.deepEqual((await post(body('bezel_break'))).reply.error, { code: -32603, message: 'broken' })
})

test('bezel_reorg is served', async (t) => {
  const { post, chain } = await startTestServer(t)
  await chain.request('hardhat_mine', [3])
  const { reply } = await post(body('bezel_reorg', [2, 'drop']))
  assert.equal((reply.result as { added: string[] }).added.length, 3)
  assert.equal((await post(body('bezel_reorg', [9, 'drop']))).reply.error?.code, -32000)
})

test('something else can be mounted on the same port, HTTP and WebSocket', async (t) => {
  const { server, url, wsUrl, post } = await startTestServer(t)
  server.mount('/feed', {
    onRequest: (request, response) => void response.end(`feed got ${request.url}`),
    onUpgrade: (_request, socket) => void socket.end('HTTP/1.1 418 Teapot\r\n\r\n'),
  })
  assert.equal(await (await fetch(`${url}/feed/charts?x=1`)).text(), 'feed got /feed/charts?x=1')
  assert.equal((await post(body('eth_chainId'), '/feeder')).status, 404)
  const socket = new WebSocket(wsUrl.replace('/test', '/feed'))
  const [error] = (await once(socket, 'error')) as [Error]
  assert.match(error.message, /418/)
  assert.throws(() => server.mount('feed/', { onRequest: () => undefined, onUpgrade: () => undefined }), /mount prefix/)
})

test('a mount that throws gives a 500 and the server goes on', async (t) => {
  const { server, url, post } = await startTestServer(t)
  const fail = (): never => {
    throw new Error('broken mount')
  }
  server.mount('/feed', { onRequest: fail, onUpgrade: () => undefined })
  const response = await fetch(`${url}/feed`)
  assert.equal(response.status, 500)
  assert.match(await response.text(), /broken mount/)
  assert.equal((await post(body('eth_chainId'))).reply.result, '0x66eee')
})

test('a port in use rejects with EADDRINUSE', async (t) => {
  const { url } = await startTestServer(t)
  const second = createRpcServer({ chains: new Map() })
  await assert.rejects(second.listen(Number(new URL(url).port)), { code: 'EADDRINUSE' })
})

test('close tells WebSockets 1001 and ends everything, mounts included', async (t) => {
  const { chain, server, wsUrl } = await startTestServer(t)
  const { socket } = await openTestSocket(t, wsUrl)
  const [[code]] = await Promise.all([once(socket, 'close'), server.close()])
  assert.equal(code, 1001)
  await chain.mine()
})
