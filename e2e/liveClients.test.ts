import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Contract, getBytes, id, JsonRpcProvider, keccak256, toUtf8Bytes, TypedDataEncoder, Wallet } from 'ethers'
import { until } from '@bezel/testkit/until.ts'
import { call, type Answer } from '@bezel/testkit/agentClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

// Clients written from the published interface of the live service alone (api.md section 3), with another library than
// the service's, so that an error shared by both sides of this project shows.

const CHAIN_PATH = '/v1/arbitrum-sepolia'
const NAME = 'Gains Trading API'
const ARBITRUM_DOMAIN = {
  name: NAME,
  version: '1',
  chainId: 42161,
  verifyingContract: '0xFF162c694eAA571f685030649814282eA457f169',
}
const REQUEST = [
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string' },
  { name: 'bodyHash', type: 'bytes32' },
  { name: 'timestamp', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
]
const AUTHORIZATION = [
  { name: 'agent', type: 'address' },
  { name: 'name', type: 'string' },
  { name: 'markets', type: 'string' },
  { name: 'maxLeverage', type: 'string' },
  { name: 'dailySpendCapUsd', type: 'string' },
  { name: 'expiresAt', type: 'uint256' },
  { name: 'permissions', type: 'string' },
  { name: 'timestamp', type: 'uint256' },
]
const KEY_ISSUE = [
  { name: 'label', type: 'string' },
  { name: 'timestamp', type: 'uint256' },
]
const REVOCATION = [
  { name: 'agent', type: 'address' },
  { name: 'timestamp', type: 'uint256' },
]

describe('the digests that the live clients publish', () => {
  it('are those of an independent signer', () => {
    assert.equal(
      TypedDataEncoder.hashDomain(ARBITRUM_DOMAIN),
      '0xdf0aae34b2e8effb80dd5069f6b60ac9a1d7d6e36b8acf183a5e4a1b4b257662',
    )
    assert.equal(
      TypedDataEncoder.hash(
        ARBITRUM_DOMAIN,
        { createOrder: REQUEST },
        {
          method: 'POST',
          path: '/v1/arbitrum/orders?x=1',
          bodyHash: id('{"market":"BTC/USD","size":"0.1"}'),
          timestamp: 1700000000000,
          nonce: 1700000000000001,
        },
      ),
      '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a',
    )
    assert.equal(
      TypedDataEncoder.hash(
        ARBITRUM_DOMAIN,
        { AgentAuthorization: AUTHORIZATION },
        {
          agent: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          name: 'bot',
          markets: 'BTC/USD,ETH/USD',
          maxLeverage: '20',
          dailySpendCapUsd: '1000',
          expiresAt: 0,
          permissions: 'trade',
          timestamp: 1700000000000,
        },
      ),
      '0x39c515ea9b58c9f56a101c82f6025b8395bde9e547229def730bf1a4ec680b97',
    )
  })
})

describe('a client of the live service, with its name and its headers set here', () => {
  let world: TradingWorld
  let provider: JsonRpcProvider
  let trader: Wallet
  let agent: Wallet
  let domain: typeof ARBITRUM_DOMAIN
  let lastNonce = 0

  before(async () => {
    world = await startTradingWorld({
      service: { BEZEL_DOMAIN_NAME: NAME, BEZEL_HEADER_PREFIX: 'X-Gains-' },
    })
    const { rpcUrl } = world.devnet.file.chains['arbitrum-sepolia']!
    provider = new JsonRpcProvider(rpcUrl, undefined, { polling: true, pollingInterval: 50, cacheTimeout: -1 })
    trader = new Wallet(keyOf('trader-1'), provider)
    agent = new Wallet(keyOf('agent-1'), provider)
    domain = (await call(world.url(), CHAIN_PATH)).body.signing.domain
    assert.equal(domain.name, NAME)
  })
  after(async () => {
    provider?.destroy()
    await world?.stop()
  })

  function keyOf(name: string): string {
    return world.devnet.file.accounts.find((account) => account.name === name)!.privateKey
  }

  async function headersOf(
    operation: string,
    method: string,
    path: string,
    body: string,
  ): Promise<Record<string, string>> {
    const timestamp = Date.now()
    lastNonce = Math.max(timestamp * 1000, lastNonce + 1)
    const message = { method, path, bodyHash: keccak256(toUtf8Bytes(body)), timestamp, nonce: lastNonce }
    return {
      'X-Gains-Agent': agent.address,
      'X-Gains-Timestamp': String(timestamp),
      'X-Gains-Nonce': String(lastNonce),
      'X-Gains-Signature': await agent.signTypedData(domain, { [operation]: REQUEST }, message),
    }
  }

  async function signed(operation: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const full = CHAIN_PATH + path
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = await headersOf(operation, method, full, text)
    if (body === undefined) return call(world.url(), full, { method, headers })
    return call(world.url(), full, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: text,
    })
  }

  function post(path: string, body: unknown, method = 'POST'): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    return call(world.url(), CHAIN_PATH + path, { method, headers, body: JSON.stringify(body) })
  }

  async function broadcast({ to, data }: { to: string; data: string }, wallet: Wallet): Promise<string> {
    const sent = await wallet.sendTransaction({ to, data })
    const receipt = await sent.wait()
    assert.equal(receipt?.status, 1)
    return sent.hash
  }

  async function filled(orderId: string): Promise<Answer['body']> {
    let order: Answer['body']
    await until('the order is filled', async () => {
      order = (await signed('getOrder', 'GET', `/orders/${orderId}`)).body
      return order.status === 'filled'
    })
    return order
  }

  it('authorises an agent with an expiring scope, and delegates to it', async () => {
    const timestamp = Date.now()
    const expiresAt = timestamp + 3_600_000
    const scope = {
      markets: ['BTC/USD'],
      maxLeverage: '20',
      dailySpendCapUsd: '100000',
      expiresAt,
      permissions: 'trade',
    }
    const signature = await trader.signTypedData(
      domain,
      { AgentAuthorization: AUTHORIZATION },
      { ...scope, agent: agent.address, name: 'bot', markets: 'BTC/USD', timestamp },
    )
    const body = { trader: trader.address, agent: agent.address, name: 'bot', scope, timestamp, signature }
    const answer = await post('/agents', body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    assert.equal(answer.body.agent.status, 'pending_delegation')
    await broadcast(answer.body.delegationTx, trader)
    await until('the chain is seen to agree', async () => {
      const { body: now } = await call(world.url(), `${CHAIN_PATH}/agents/${agent.address}`)
      return now.agent.status === 'active'
    })
  })

  it('trades: prepared, broadcast, reported, filled, closed', async () => {
    const prepared = await signed('createOrder', 'POST', '/orders', {
      market: 'BTC/USD',
      side: 'long',
      type: 'market',
      size: '0.02',
      leverage: '10',
    })
    assert.equal(prepared.status, 201, JSON.stringify(prepared.body))
    const { order, transaction } = prepared.body
    const txHash = await broadcast(transaction, agent)
    const submitted = await signed('submitOrder', 'POST', `/orders/${order.id}/submit`, { txHash })
    assert.equal(submitted.status, 200, JSON.stringify(submitted.body))
    const { fill } = await filled(order.id)

    const closing = await signed('closePosition', 'POST', `/positions/${fill.positionId}/close`, {})
    assert.equal(closing.status, 200, JSON.stringify(closing.body))
    await broadcast(closing.body.transaction, agent)
    await filled(closing.body.order.id)
    const positions = await signed('listPositions', 'GET', `/account/${trader.address}/positions`)
    assert.deepEqual(positions.body.data, [])
  })

  it('signs paths as they are sent, percent-encoding and query included', async () => {
    const path = `/account/${trader.address}/orders/history?limit=%35`
    assert.equal((await signed('listOrderHistory', 'GET', path)).status, 200)
    const changed = await headersOf('listOrderHistory', 'GET', CHAIN_PATH + path.replace('%35', '5'), '')
    const answer = await call(world.url(), CHAIN_PATH + path, { headers: changed })
    assert.equal(answer.body.code, 'INVALID_SIGNATURE')
  })

  it('reads with an API key in the header of that name', async () => {
    const timestamp = Date.now()
    const signature = await trader.signTypedData(domain, { ApiKeyIssue: KEY_ISSUE }, { label: 'reader', timestamp })
    const issued = await post('/api-keys', { trader: trader.address, label: 'reader', timestamp, signature })
    assert.equal(issued.status, 200, JSON.stringify(issued.body))
    const headers = { 'X-Gains-Api-Key': issued.body.apiKey }
    const answer = await call(world.url(), `${CHAIN_PATH}/account/${trader.address}`, { headers })
    assert.equal(answer.body.address, trader.address)
  })

  it('is not heard under other headers, nor for another domain', async () => {
    const path = `${CHAIN_PATH}/account/${trader.address}`
    const gains = await headersOf('getAccount', 'GET', path, '')
    const others = Object.fromEntries(
      Object.entries(gains).map(([name, value]) => [name.replace('Gains', 'Service'), value]),
    )
    assert.equal((await call(world.url(), path, { headers: others })).body.code, 'UNAUTHENTICATED')
    const own = domain
    domain = { ...domain, name: 'Bezel Trading API' }
    const answer = await signed('getAccount', 'GET', `/account/${trader.address}`)
    domain = own
    assert.equal(answer.body.code, 'INVALID_SIGNATURE')
  })

  it('revokes its agent', async () => {
    const timestamp = Date.now()
    const message = { agent: agent.address, timestamp }
    const signature = await trader.signTypedData(domain, { AgentRevocation: REVOCATION }, message)
    const answer = await post(`/agents/${agent.address}`, { trader: trader.address, timestamp, signature }, 'DELETE')
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal((await signed('getAccount', 'GET', `/account/${trader.address}`)).body.code, 'AGENT_REVOKED')
    await broadcast(answer.body.revocationTx, trader)
    const diamond = new Contract(
      answer.body.revocationTx.to,
      ['function getTradingDelegate(address) view returns (address)'],
      provider,
    )
    assert.equal(BigInt(await diamond.getFunction('getTradingDelegate')(trader.address)), 0n)
    assert.equal(getBytes(answer.body.revocationTx.data).length, 4)
  })
})
