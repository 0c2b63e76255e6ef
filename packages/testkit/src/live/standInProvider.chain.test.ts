import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { createChainClient, type ChainClient } from '../chainClient.ts'
import { startDevnet, type RunningDevnet } from '../startDevnet.ts'
import { until } from '../until.ts'
import { GIANT_BYTES, type StandInFault } from './providerFaults.ts'
import type { StandInLimits } from './providerLimits.ts'
import { jsonFieldsOf, quantityOf, toQuantityHex, type JsonFields, type StandInAnswer } from './providerRpc.ts'
import { startStandInProvider, type StandInProvider } from './standInProvider.ts'

const CHAIN_ID = '0x66eee'
const CALL = (method: string, ...params: unknown[]) => ({ method, params })
const HEAD = CALL('eth_blockNumber')
const CHAIN = CALL('eth_chainId')

type Asked = ReturnType<typeof CALL>

describe('a stand-in for a provider', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let provider: StandInProvider
  let nowMs = 0
  /** The newest block with logs, and the newest block of all. */
  let logBlock: number
  let head: number

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '60000' })
    chain = createChainClient(devnet.file)
    provider = await startStandInProvider({
      target: devnet.file.chains['arbitrum-sepolia']!.rpcUrl.replace(/\/$/, ''),
      nowMs: () => nowMs,
    })
    const logs = await chain.client.getLogs({ fromBlock: 0n })
    logBlock = Number(logs.at(-1)!.blockNumber)
    await chain.control('hardhat_mine', 3)
  })
  after(async () => {
    await provider?.close()
    await devnet?.stop()
  })
  beforeEach(async () => {
    await provider.setFault({ kind: 'none' })
    provider.setSocketFault({ kind: 'none' })
    provider.setLimits({})
    provider.resetCounts()
    head = Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
  })

  const post = (body: unknown): Promise<Response> =>
    fetch(provider.url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  const framed = (calls: readonly Asked[]): object[] => calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const batch = async (...calls: Asked[]): Promise<StandInAnswer[]> =>
    (await post(framed(calls))).json() as Promise<StandInAnswer[]>
  const ask = async (method: string, ...params: unknown[]): Promise<StandInAnswer> =>
    (await batch(CALL(method, ...params)))[0]!
  const resultOf = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const { result, error } = await ask(method, ...params)
    assert.equal(error, undefined)
    return result
  }
  const block = async (id: unknown): Promise<JsonFields> =>
    jsonFieldsOf(await resultOf('eth_getBlockByNumber', id, false))
  const logsOf = async (filter: object): Promise<JsonFields[]> =>
    (await resultOf('eth_getLogs', filter)) as JsonFields[]
  const supply = (at: unknown): Asked => CALL('eth_getBalance', chain.account('trader-1').address, at)
  const limit = (limits: StandInLimits): void => provider.setLimits(limits)

  it('passes calls on, and counts them as they are billed', async () => {
    const answers = await batch(HEAD, CHAIN, CALL('eth_call', { to: chain.diamond, data: '0x' }, 'latest'))
    assert.deepEqual(
      answers.map(({ id }) => id),
      [0, 1, 2],
    )
    assert.deepEqual([answers[0]!.result, answers[1]!.result], [toQuantityHex(head), CHAIN_ID])
    const single = await (await post(framed([HEAD])[0])).json()
    assert.deepEqual(single, { jsonrpc: '2.0', id: 0, result: toQuantityHex(head) })
    const { requests, calls, byMethod, units, refused, pushes, largestBatch } = provider.counts()
    assert.deepEqual([requests, calls, units, refused, pushes, largestBatch], [2, 4, 46, 0, 0, 3])
    assert.deepEqual(byMethod, { eth_blockNumber: 2, eth_chainId: 1, eth_call: 1 })
    assert.equal(jsonFieldsOf(jsonFieldsOf(await (await post('{')).json()).error).code, -32700)
  })

  it('refuses a batch that is too large as a whole, in the forms that providers use', async () => {
    const three = framed([CHAIN, CHAIN, CHAIN])
    limit({ batch: { max: 2 } })
    const object = await post(three)
    assert.equal(object.status, 200)
    assert.match(await object.text(), /^\{.*batch size is over the limit of 2/)
    limit({ batch: { max: 2, form: 'item' } })
    const refused = { jsonrpc: '2.0', id: 0, error: { code: -32600, message: 'batch too large' } }
    assert.deepEqual(await batch(CHAIN, CHAIN, CHAIN), [refused])
    limit({ batch: { max: 2, form: 'http413' } })
    assert.equal((await post(three)).status, 413)
    limit({ batch: { max: 2, form: 'http400' } })
    const page = await post(three)
    assert.deepEqual(
      [page.status, await page.text()],
      [400, 'Batch of more than 2 requests are not allowed on this plan'],
    )
    assert.equal((await batch(CHAIN, CHAIN)).length, 2)
    assert.deepEqual([provider.counts().refused, provider.counts().calls], [12, 2])
  })

  it('refuses wide ranges and large answers inside the item', async () => {
    const range = (blocks: number): object => ({ fromBlock: toQuantityHex(head - blocks + 1), toBlock: 'latest' })
    const texts = [
      ['wide', -32000, /too wide: maximum allowed is 2 blocks/],
      ['limited', -32614, /limited to a 2 range/],
      ['upTo', -32600, /up to a 2 block range/],
      ['exceeds', -32602, /exceed maximum block range: 2/],
    ] as const
    for (const [text, code, message] of texts) {
      limit({ logRange: { max: 2, text } })
      const [wide, other] = await batch(CALL('eth_getLogs', range(3)), HEAD)
      assert.equal(wide!.error!.code, code)
      assert.match(wide!.error!.message, message)
      assert.equal(other!.result, toQuantityHex(head))
    }
    assert.deepEqual(await resultOf('eth_getLogs', range(2)), [])
    limit({ maxLogs: 1 })
    const all = { address: chain.diamond, fromBlock: '0x0', toBlock: 'latest' }
    assert.match((await ask('eth_getLogs', all)).error!.message, /more than 1 results/)
    limit({ maxAnswerChars: 200 })
    assert.equal((await ask('eth_getLogs', all)).error!.code, -32008)
    assert.equal((await ask('eth_blockNumber')).error, undefined)
  })

  it('gives compute units by the second', async () => {
    limit({ units: { perSecond: 26 } })
    const view = CALL('eth_call', { to: chain.diamond, data: '0x' }, 'latest')
    await batch(view)
    const late = await post(framed([view]))
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '1'])
    assert.equal((await batch(CHAIN))[0]!.result, CHAIN_ID, 'a call without a price is never late')
    nowMs += 500
    assert.equal((await post(framed([view]))).status, 429)
    nowMs += 500
    assert.equal((await post(framed([view]))).status, 200)
    nowMs += 10_000
    assert.equal((await post(framed([view, view]))).status, 200, 'a full bucket is enough for a larger request')
    nowMs += 1_000
    assert.equal((await post(framed([view]))).status, 429, 'which is paid back')
    for (const [form, code] of [
      ['item-32005', -32005],
      ['item429', 429],
    ] as const) {
      limit({ units: { perSecond: 26, form } })
      const [first, second, third] = await batch(view, view, CHAIN)
      assert.equal(first!.error?.code === code, false)
      assert.equal(second!.error!.code, code)
      assert.equal(third!.result, CHAIN_ID)
    }
  })

  it('fails as a whole in the ways that providers do', async () => {
    const replyTo = async (fault: StandInFault): Promise<Response> => {
      await provider.setFault(fault)
      return post(framed([CHAIN, HEAD]))
    }
    assert.equal((await replyTo({ kind: 'serverError', status: 502 })).status, 502)
    assert.match(await (await replyTo({ kind: 'notJson' })).text(), /^<!doctype/)
    const cut = await (await replyTo({ kind: 'cutJson' })).text()
    assert.throws(() => void JSON.parse(cut))
    await assert.rejects((await replyTo({ kind: 'cutConnection' })).text())
    await assert.rejects(replyTo({ kind: 'away' }))
    assert.equal((await (await replyTo({ kind: 'giant' })).arrayBuffer()).byteLength > GIANT_BYTES, true)
    assert.equal((await replyTo({ kind: 'rateLimited', form: 'http429' })).status, 429)
    await provider.setFault({ kind: 'hanging' })
    const gaveUp = new AbortController()
    const hung = fetch(provider.url, { method: 'POST', body: '[]', signal: gaveUp.signal })
    await until('the request arrived', () => provider.counts().requests === 8)
    gaveUp.abort()
    await assert.rejects(hung)
    const statuses: number[] = []
    await provider.setFault({ kind: 'serverError', status: 500, every: 3 })
    for (let nth = 0; nth < 6; nth += 1) statuses.push((await post(framed([CHAIN]))).status)
    assert.deepEqual(statuses, [200, 200, 500, 200, 200, 500])
  })

  it('spoils single answers', async () => {
    await provider.setFault({ kind: 'leftOut' })
    assert.deepEqual(
      (await batch(CHAIN, HEAD, CHAIN)).map(({ id }) => id),
      [1],
    )
    await provider.setFault({ kind: 'wrongIds' })
    assert.deepEqual(
      (await batch(CHAIN, HEAD)).map(({ id }) => id),
      [1000, 1001],
    )
    await provider.setFault({ kind: 'wrongChain' })
    assert.deepEqual(
      (await batch(CHAIN, HEAD)).map(({ result }) => result),
      ['0x1', toQuantityHex(head)],
    )
    await provider.setFault({ kind: 'rateLimited', form: 'item429' })
    assert.equal((await ask('eth_blockNumber')).error!.code, 429)
    await provider.setFault({ kind: 'unwilling' })
    const view = CALL('eth_call', { to: chain.account('trader-1').address, data: '0x' }, 'latest')
    const views = await batch(CHAIN, view, view, view, view)
    assert.deepEqual(
      views.map(({ error }) => error?.message),
      [undefined, 'execution aborted (timeout = 5s)', undefined, undefined, 'execution aborted (timeout = 5s)'],
    )
    await provider.setFault({ kind: 'stateGone', text: 'trie' })
    const [old, newest] = await batch(supply(toQuantityHex(head)), supply('latest'))
    assert.match(old!.error!.message, /^missing trie node/)
    assert.equal(newest!.error, undefined)
  })

  it('leaves logs out, with the bloom of their block still right', async () => {
    const { hash, logsBloom } = await block(toQuantityHex(logBlock))
    const there = await logsOf({ blockHash: hash })
    assert.ok(there.length > 1)
    await provider.setFault({ kind: 'missingLogs', part: 'all' })
    assert.deepEqual(await logsOf({ blockHash: hash }), [])
    assert.deepEqual(await logsOf({ fromBlock: toQuantityHex(logBlock), toBlock: toQuantityHex(logBlock) }), [])
    assert.equal((await block(toQuantityHex(logBlock))).logsBloom, logsBloom)
    await provider.setFault({ kind: 'missingLogs', part: 'half' })
    assert.equal((await logsOf({ blockHash: hash })).length, Math.floor(there.length / 2))
  })

  it('stands still, as if nothing had happened since', async () => {
    const hidden = await block(toQuantityHex(logBlock))
    const [hiddenLog] = await logsOf({ blockHash: hidden.hash })
    const last = logBlock - 1
    await provider.setFault({ kind: 'staleHead', behind: head - last, refuses: false })
    assert.equal(await resultOf('eth_blockNumber'), toQuantityHex(last))
    assert.equal((await block('latest')).number, toQuantityHex(last))
    assert.equal((await block('finalized')).number, toQuantityHex(last))
    for (const [method, ...params] of [
      ['eth_getBlockByNumber', toQuantityHex(logBlock), false],
      ['eth_getBlockByHash', hidden.hash, false],
      ['eth_getTransactionReceipt', hiddenLog!.transactionHash],
    ] as const) {
      assert.equal(await resultOf(method, ...params), null)
    }
    assert.equal(jsonFieldsOf(await resultOf('eth_getTransactionByHash', hiddenLog!.transactionHash)).blockNumber, null)
    assert.deepEqual(await logsOf({ fromBlock: toQuantityHex(logBlock), toBlock: 'latest' }), [])
    const shown = await logsOf({ fromBlock: '0x0', toBlock: toQuantityHex(head) })
    assert.ok(shown.every(({ blockNumber }) => quantityOf(blockNumber)! <= last))
    assert.equal((await ask('eth_getLogs', { blockHash: hidden.hash })).error!.message, 'unknown block')
    const [above, named, newest] = await batch(
      supply(toQuantityHex(logBlock)),
      supply({ blockHash: hidden.hash }),
      supply('latest'),
    )
    assert.deepEqual([above!.error!.message, named!.error!.message], ['header not found', 'header not found'])
    assert.equal(newest!.error, undefined)
    await chain.control('evm_mine')
    assert.equal(await resultOf('eth_blockNumber'), toQuantityHex(last))

    await provider.setFault({ kind: 'staleHead', behind: 1, refuses: true })
    const beyond = await ask('eth_getLogs', { fromBlock: toQuantityHex(head), toBlock: toQuantityHex(head + 1) })
    assert.equal(beyond.error!.message, 'block range extends beyond current head block')
  })

  it('shows a branch of its own, and comes back from it', async () => {
    const [fork, replaced] = [await block(toQuantityHex(logBlock - 1)), await block(toQuantityHex(logBlock))]
    await provider.setFault({ kind: 'otherBranch', depth: head - logBlock + 1 })
    let parent = fork.hash
    for (let number = logBlock; number <= head; number += 1) {
      const { hash, parentHash, transactions, logsBloom } = await block(toQuantityHex(number))
      assert.deepEqual([parentHash, transactions, Number(logsBloom)], [parent, [], 0])
      assert.equal(jsonFieldsOf(await resultOf('eth_getBlockByHash', hash, false)).number, toQuantityHex(number))
      assert.deepEqual(await logsOf({ blockHash: hash }), [])
      assert.equal((await batch(supply({ blockHash: hash })))[0]!.error, undefined)
      parent = hash
    }
    assert.notEqual((await block(toQuantityHex(logBlock))).hash, replaced.hash)
    assert.equal(await resultOf('eth_getBlockByHash', replaced.hash, false), null)
    assert.equal(await resultOf('eth_blockNumber'), toQuantityHex(head))
    await chain.control('evm_mine')
    assert.equal((await block('latest')).parentHash, parent, 'it grows with the chain')
    await provider.setFault({ kind: 'none' })
    assert.equal((await block(toQuantityHex(logBlock))).hash, replaced.hash)
  })

  describe('over its WebSocket', () => {
    let socket: WebSocket
    let heard: string[]

    /** Connects, and subscribes to new heads. */
    async function subscribe(): Promise<void> {
      heard = []
      socket = new WebSocket(provider.wsUrl)
      socket.on('message', (data) => heard.push(String(data)))
      await new Promise((opened, failed) => socket.once('open', opened).once('error', failed))
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
      await until('an answer', () => heard.length === 1)
    }
    const mine = (): Promise<unknown> => chain.control('evm_mine')
    const heads = (): (number | undefined)[] =>
      heard
        .slice(1)
        .map((text) => quantityOf(jsonFieldsOf(jsonFieldsOf(jsonFieldsOf(JSON.parse(text)).params).result).number))
    after(() => socket?.terminate())

    it('pushes heads, counts them apart, and answers calls', async () => {
      await subscribe()
      await mine()
      await until('a head', () => heads().length === 1)
      socket.send('{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber","params":[]}')
      await until('an answer', () => heard.some((text) => text.includes('"id":2')))
      assert.equal(heads()[0], head + 1)
      const { calls, pushes } = provider.counts()
      assert.deepEqual([calls, pushes], [2, 1])
      socket.terminate()
    })

    it('refuses subscriptions, cuts connections, and is silent', async () => {
      provider.setSocketFault({ kind: 'refuses' })
      await subscribe()
      assert.match(heard[0]!, /"error"/)
      provider.setSocketFault({ kind: 'cut' })
      await new Promise((closed) => socket.once('close', closed))
      await assert.rejects(subscribe())
      provider.setSocketFault({ kind: 'silent' })
      await subscribe()
      await mine()
      await mine()
      provider.setSocketFault({ kind: 'none' })
      await mine()
      await until('a head', () => heads().length > 0)
      assert.deepEqual(heads(), [head + 3], 'those of the silence never come')
      socket.terminate()
    })

    it('pushes late, garbage, and the heads of the chain that it shows', async () => {
      await subscribe()
      provider.setSocketFault({ kind: 'late', blocks: 2 })
      for (let nth = 0; nth < 3; nth += 1) await mine()
      await until('the first head', () => heads().length > 0)
      assert.deepEqual(heads(), [head + 1])
      provider.setSocketFault({ kind: 'none' })
      await mine()
      await until('the rest', () => heads().length === 4)
      provider.setSocketFault({ kind: 'garbage' })
      heard.length = 1
      await mine()
      await mine()
      await until('garbage', () => heard.length === 3)
      assert.ok(heard.some((text) => text.includes('0xnonsense')) && heard.some((text) => text.startsWith('<html>')))
      provider.setSocketFault({ kind: 'none' })
      await provider.setFault({ kind: 'otherBranch', depth: 0 })
      heard.length = 1
      await mine()
      await until('a head', () => heads().length === 1)
      assert.match(heard[1]!, new RegExp(String((await block('latest')).hash)))
      socket.terminate()
    })
  })
})
