import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createPublicClient, webSocket, type Log } from 'viem'
import { WebSocket } from 'ws'
import { EMITTER, mineEmits, sendEmit } from '../chain/testing/testChain.ts'
import { toWord } from '../chain/jsonRpc.ts'
import { RPC_LIMITS } from './respond.ts'
import { openTestSocket, startTestServer } from './testing/testServer.ts'

interface PushedLog {
  topics: string[]
  removed: boolean
  blockHash: string
}

test('requests, batches and bad input are answered as over HTTP', async (t) => {
  const { wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  assert.equal((await socket.request('eth_chainId', [])).result, '0x66eee')
  assert.equal((await socket.request('no_such', [])).error?.code, -32601)
  socket.send(
    '[{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"},{"jsonrpc":"2.0","id":2,"method":"eth_chainId","params":[]}]',
  )
  const batch = await socket.waitFor((message) => Array.isArray(message))
  assert.equal(Object.keys(batch).length, 2)
  socket.send('{nonsense')
  const { error } = await socket.waitFor((message) => message['id'] === null)
  assert.equal((error as { code: number }).code, -32700)
})

test('newHeads are pushed for each block, all 200 of hardhat_mine(200)', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const { result: id } = await socket.request('eth_subscribe', ['newHeads'])
  await chain.request('hardhat_mine', ['0xc8'])
  await socket.waitFor(() => socket.pushed(id).length === 200)
  const heads = socket.pushed(id) as { number: string; hash: string; parentHash: string }[]
  heads.forEach((head, index) => {
    assert.equal(Number(head.number), index + 1)
    if (index > 0) assert.equal(head.parentHash, heads[index - 1]?.hash)
  })
})

test('a head has the members of a header and no transactions', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const { result: id } = await socket.request('eth_subscribe', ['newHeads'])
  await chain.mine()
  await socket.waitFor(() => socket.pushed(id).length === 1)
  const head = socket.pushed(id)[0] as Record<string, unknown>
  for (const member of [
    'number',
    'hash',
    'parentHash',
    'timestamp',
    'logsBloom',
    'baseFeePerGas',
    'gasUsed',
    'stateRoot',
    'mixHash',
  ]) {
    assert.equal(typeof head[member], 'string', member)
  }
  assert.equal('transactions' in head, false)
})

test('logs are pushed by address and topics', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const filters: [unknown, number[]][] = [
    [{}, [0, 1, 2]],
    [{ address: EMITTER }, [0, 1, 2]],
    [{ address: [EMITTER.toUpperCase().replace('0X', '0x')] }, [0, 1, 2]],
    [{ address: `0x${'00'.repeat(20)}` }, []],
    [{ address: EMITTER, topics: [toWord(1)] }, [1]],
    [{ topics: [[toWord(0), toWord(2)]] }, [0, 2]],
    [{ topics: [null] }, [0, 1, 2]],
    [{ topics: [null, toWord(1)] }, []],
    [{ topics: [null, null] }, []],
  ]
  const ids: unknown[] = []
  for (const [filter] of filters) ids.push((await socket.request('eth_subscribe', ['logs', filter])).result)
  const { result: heads } = await socket.request('eth_subscribe', ['newHeads'])
  await mineEmits(chain, 3)
  await chain.mine()
  await socket.waitFor(() => socket.pushed(heads).length === 4)
  filters.forEach(([filter, expected], index) => {
    const topics = (socket.pushed(ids[index]) as PushedLog[]).map((log) => Number(log.topics[0]))
    assert.deepEqual(topics, expected, JSON.stringify(filter))
  })
})

test('a reorg is pushed as removed logs newest first, then heads and logs of the new blocks', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  await mineEmits(chain, 4)
  const socket = await openTestSocket(t, wsUrl)
  const { result: logs } = await socket.request('eth_subscribe', ['logs', { address: EMITTER }])
  const { result: heads } = await socket.request('eth_subscribe', ['newHeads'])
  await socket.request('bezel_reorg', [2, 'remine'])
  await socket.waitFor(() => socket.pushed(heads).length === 3 && socket.pushed(logs).length === 4)
  const order = socket.messages
    .map((message) => message['params'] as { result: PushedLog & { number: string } } | undefined)
    .filter((params) => params !== undefined)
    .map(({ result }) =>
      result.topics === undefined
        ? `head ${Number(result.number)}`
        : `${result.removed ? '-' : '+'}${Number(result.topics[0])}`,
    )
  assert.deepEqual(order, ['-3', '-2', 'head 3', 'head 4', '+2', 'head 5', '+3'])
})

test('viem watches blocks and logs over the socket, through a reorg', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const client = createPublicClient({ transport: webSocket(wsUrl, { reconnect: false }) })
  const seen: Log[] = []
  const { promise: allSeen, resolve } = Promise.withResolvers<void>()
  const transport = client.transport
  const { unsubscribe } = await transport.subscribe({
    params: ['logs', { address: EMITTER }],
    onData(data) {
      if ('result' in data && seen.push(data.result) === 3) resolve()
    },
  })
  await mineEmits(chain, 1)
  await chain.reorg(1, 'remine')
  await allSeen
  assert.deepEqual(
    seen.map(({ removed }) => removed),
    [false, true, false],
  )
  assert.equal(await client.getBlockNumber(), 2n)
  await unsubscribe()
  const rpcClient = await transport.getRpcClient()
  rpcClient.close()
})

test('newPendingTransactions gives hashes', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const { result: id } = await socket.request('eth_subscribe', ['newPendingTransactions'])
  const hash = await sendEmit(chain, 0)
  await socket.waitFor(() => socket.pushed(id).length === 1)
  assert.deepEqual(socket.pushed(id), [hash])
})

test('eth_unsubscribe ends a subscription, once, and only of its own socket', async (t) => {
  const { chain, wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const other = await openTestSocket(t, wsUrl)
  const { result: id } = await socket.request('eth_subscribe', ['newHeads'])
  const { result: kept } = await socket.request('eth_subscribe', ['newHeads'])
  assert.equal((await other.request('eth_unsubscribe', [id])).result, false)
  assert.equal((await socket.request('eth_unsubscribe', [id])).result, true)
  assert.equal((await socket.request('eth_unsubscribe', [id])).result, false)
  await chain.mine()
  await socket.waitFor(() => socket.pushed(kept).length === 1)
  assert.equal(socket.pushed(id).length, 0)
})

test('bad subscriptions are refused', async (t) => {
  const { wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  const bad: unknown[][] = [
    [],
    ['nope'],
    [5],
    ['logs', 'x'],
    ['logs', []],
    ['logs', { address: '0x12' }],
    ['logs', { address: [5] }],
    ['logs', { topics: 'x' }],
    ['logs', { topics: ['0x12'] }],
    ['logs', { topics: [null, null, null, null, null] }],
  ]
  for (const params of bad) {
    assert.equal((await socket.request('eth_subscribe', params)).error?.code, -32602, JSON.stringify(params))
  }
  for (let count = 0; count < RPC_LIMITS.maxSocketSubscriptions; count += 1)
    await socket.request('eth_subscribe', ['newHeads'])
  assert.match((await socket.request('eth_subscribe', ['newHeads'])).error?.message ?? '', /at most 100 subscriptions/)
})

test('subscriptions over HTTP say that they need a WebSocket', async (t) => {
  const { post } = await startTestServer(t)
  const { reply } = await post('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  assert.equal(reply.error?.code, -32601)
  assert.match(reply.error?.message ?? '', /need a WebSocket/)
})

test('a message over the limit closes the socket with 1009, an unknown chain is a 404', async (t) => {
  const { wsUrl } = await startTestServer(t)
  const socket = await openTestSocket(t, wsUrl)
  socket.send(' '.repeat(RPC_LIMITS.maxBodyBytes + 1))
  const [code] = (await once(socket.socket, 'close')) as [number]
  assert.equal(code, 1009)
  const lost = new WebSocket(wsUrl.replace('/test', '/nope'))
  const [error] = (await once(lost, 'error')) as [Error]
  assert.match(error.message, /404/)
})

test('a reader that does not read is cut off', async (t) => {
  const { wsUrl } = await startTestServer(t, { methods: { bezel_big: () => 'x'.repeat(4_000_000) } })
  const socket = await openTestSocket(t, wsUrl)
  socket.socket.pause()
  const request = '{"jsonrpc":"2.0","id":1,"method":"bezel_big"}'
  const closed = once(socket.socket, 'close')
  for (let count = 0; count < 40; count += 1) socket.send(request)
  // The client learns of it once it reads again, which happens after a second socket has been answered after all those
  // requests.
  const second = await openTestSocket(t, wsUrl)
  for (let count = 0; count < 20; count += 1) await second.request('eth_chainId', [])
  socket.socket.resume()
  const [code] = (await closed) as [number]
  assert.equal(code, 1006)
})
