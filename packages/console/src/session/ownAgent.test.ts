import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { CHAINS, createBezelClient, FULL_SCOPE, type Agent, type BezelClient } from '@bezel/sdk'
import { verifyTypedData } from 'viem'
import { ensureOwnAgent } from './ownAgent.ts'
import { createProviderSender, createProviderSigner, typedDataJson } from './providerSigner.ts'
import { createSandboxProvider } from './sandboxWallet.ts'
import { createFakeWallet, KEYS } from './testing/fakeWallet.ts'
import { startStandInService, type StandInService } from './testing/standInService.ts'

const { chainId, liveDiamond } = CHAINS['arbitrum-sepolia']
const FACTS = { chainId: () => chainId, now: Date.now }

describe('a wallet as its own agent', () => {
  let service: StandInService
  let client: BezelClient
  before(async () => {
    service = await startStandInService()
    client = createBezelClient({ baseUrl: service.url, chain: 'arbitrum-sepolia' })
  })
  after(() => service.close())
  const readAgents = async (): Promise<readonly Agent[]> => [...service.agents.values()]

  it('is registered with one signature, once for ever', async () => {
    const wallet = createFakeWallet(chainId)
    const trader = createProviderSigner(wallet.option.provider, wallet.address, FACTS)
    await ensureOwnAgent({ client, trader, known: null, readAgents })
    await ensureOwnAgent({ client, trader, known: [], readAgents })
    assert.deepEqual(wallet.prompts, ['eth_signTypedData_v4'])
    const record = service.agents.get(wallet.address)!
    assert.deepEqual([record.trader, record.scope], [wallet.address, FULL_SCOPE])
    const earlier = service.asked.length
    await ensureOwnAgent({ client, trader, known: [record], readAgents })
    assert.equal(service.asked.length, earlier)
  })

  it('is registered again when it was revoked, or came through the facade', async () => {
    const wallet = createFakeWallet(chainId)
    const trader = createProviderSigner(wallet.option.provider, wallet.address, FACTS)
    const record = service.agents.get(wallet.address)!
    for (const change of [{ status: 'revoked' }, { mode: 'relayed' }] as const) {
      await ensureOwnAgent({ client, trader, known: [{ ...record, ...change }], readAgents })
    }
    assert.equal(wallet.prompts.length, 2)
  })

  it('is not asked to sign for another chain than the one it is on', async () => {
    const wallet = createFakeWallet(1)
    const trader = createProviderSigner(wallet.option.provider, wallet.address, FACTS)
    await assert.rejects(trader.signTypedData({} as never), { code: 'WRONG_CHAIN' })
    assert.deepEqual(wallet.prompts, [])
  })
})

describe('the wallet of the sandbox', () => {
  const asked: string[] = []
  const node = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      const { id, method } = JSON.parse(text) as { id: number; method: string }
      asked.push(method)
      const result = NODE_ANSWERS[method] ?? null
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  const NODE_ANSWERS: Readonly<Record<string, unknown>> = {
    eth_chainId: `0x${chainId.toString(16)}`,
    eth_call: '0x2a',
    eth_getTransactionCount: '0x0',
    eth_estimateGas: '0x5208',
    eth_gasPrice: '0x1',
    eth_sendRawTransaction: `0x${'ab'.repeat(32)}`,
    eth_getBlockByNumber: { number: '0x1', baseFeePerGas: '0x1', timestamp: '0x1', transactions: [] },
    eth_maxPriorityFeePerGas: '0x1',
  }
  const account = { name: 'trader-1', address: createFakeWallet(1).address, privateKey: KEYS[0] }
  const provider = createSandboxProvider({
    account,
    chain: () => ({ chainId, rpcUrl: `http://127.0.0.1:${(node.address() as AddressInfo).port}` }),
  })
  before(() => new Promise<void>((resolve) => void node.listen(0, '127.0.0.1', resolve)))
  after(() => {
    node.closeAllConnections()
    node.close()
  })

  it('has its account and is on the chain of the page, without asking', async () => {
    assert.deepEqual(await provider.request({ method: 'eth_requestAccounts' }), [account.address])
    assert.equal(Number(await provider.request({ method: 'eth_chainId' })), chainId)
    const params = [{ chainId: '0x1' }]
    assert.equal(await provider.request({ method: 'wallet_switchEthereumChain', params }), null)
  })

  it('signs typed data as an extension does', async () => {
    const domain = { name: 'Test', version: '1', chainId, verifyingContract: liveDiamond } as const
    const types = {
      Note: [
        { name: 'text', type: 'string' },
        { name: 'count', type: 'uint256' },
      ],
    }
    const note = { domain, types, primaryType: 'Note', message: { text: 'hello', count: 7n } } as const
    const params = [account.address, typedDataJson(note)]
    const signature = (await provider.request({ method: 'eth_signTypedData_v4', params })) as `0x${string}`
    assert.ok(await verifyTypedData({ ...note, address: account.address, signature } as never))
  })

  it('sends transactions with its own key, and reads over the node', async () => {
    const sender = createProviderSender(provider, account.address)
    const transaction = { to: liveDiamond, data: '0x1234', value: 0n, chainId, gas: 21_000n } as const
    assert.equal(await sender.sendTransaction(transaction), NODE_ANSWERS['eth_sendRawTransaction'])
    assert.ok(asked.includes('eth_sendRawTransaction') && !asked.includes('eth_sendTransaction'))
    assert.equal(await sender.call!(liveDiamond, '0x'), '0x2a')
  })
})
