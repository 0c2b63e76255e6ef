import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import { createWalletClient, http, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import {
  authorization,
  call,
  freshNonce,
  UNLIMITED_SCOPE,
  keyIssue,
  revocation,
  send,
  signedGet,
  signedHeaders,
} from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = '/v1/arbitrum-sepolia'
/** Bytecode of a wallet whose isValidSignature accepts everything: returns 0x1626ba7e. */
const YES_WALLET: Hex = '0x631626ba7e60e01b5f5260205ff3'
/** Bytecode of a wallet that accepts nothing: returns 0. */
const NO_WALLET: Hex = '0x5f5f5260205ff3'

describe('agents, keys and private reads', () => {
  let devnet: RunningDevnet
  let service: RunningService
  let chain: ChainClient
  let domain: SigningDomain

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '50' })
    service = await startService(devnet)
    chain = createChainClient(devnet.file)
    domain = (await call(service.url, CHAIN)).body.signing.domain
  })
  after(async () => {
    await service.stop()
    await devnet.stop()
  })

  const accountPath = (trader: PrivateKeyAccount): string => `${CHAIN}/account/${trader.address}`
  const readAccount = (agent: PrivateKeyAccount, trader: PrivateKeyAccount) =>
    signedGet(service.url, domain, agent, 'getAccount', accountPath(trader))

  async function register(trader: PrivateKeyAccount, agent: PrivateKeyAccount, of = {}) {
    return send(service.url, 'POST', `${CHAIN}/agents`, await authorization(domain, trader, agent, of))
  }

  async function sendTx(trader: PrivateKeyAccount, tx: { to: Hex; data: Hex }): Promise<void> {
    const wallet = createWalletClient({
      account: trader,
      transport: http(devnet.file.chains['arbitrum-sepolia']!.rpcUrl),
    })
    const hash = await wallet.sendTransaction({ ...tx, chain: null })
    await chain.client.waitForTransactionReceipt({ hash })
  }

  it('leads from authorisation over delegation to the first private read', async () => {
    const trader = chain.account('trader-1')
    const agent = chain.account('agent-1')
    const created = await register(trader, agent, { name: 'bot' })
    assert.equal(created.status, 201)
    assert.equal(created.body.agent.status, 'pending_delegation')
    assert.equal(created.body.agent.name, 'bot')
    assert.equal(created.body.delegationTx.to, chain.diamond)

    const refused = await readAccount(agent, trader)
    assert.equal(refused.status, 403)
    assert.equal(refused.body.code, 'AGENT_NOT_DELEGATED')
    assert.deepEqual(refused.body.details.delegationTx, created.body.delegationTx)

    await sendTx(trader, refused.body.details.delegationTx)
    await until('the first private read', async () => (await readAccount(agent, trader)).status === 200)
    const { body } = await readAccount(agent, trader)
    assert.equal(body.address, trader.address)
    const usdc = body.balances.find((entry: { collateral: string }) => entry.collateral === 'USDC')
    assert.equal(usdc.balance, '1000000')
    assert.equal(body.agents[0].status, 'active')
    assert.equal((await call(service.url, `${CHAIN}/agents/${agent.address}`)).body.agent.status, 'active')
  })

  it('accepts what is signed with the structs that it publishes', async () => {
    const { signing } = (await call(service.url, CHAIN)).body
    const trader = privateKeyToAccount(generatePrivateKey())
    const agent = privateKeyToAccount(generatePrivateKey())
    const signed = async (primaryType: string, message: object) => {
      const timestamp = Date.now()
      const { domain: published, types } = signing
      const typedData = { domain: published, types, primaryType, message: { ...message, timestamp } }
      return { trader: trader.address, timestamp, signature: await trader.signTypedData(typedData as never) }
    }
    const limits = { name: '', markets: '*', maxLeverage: '', dailySpendCapUsd: '', expiresAt: 0 }
    const authorised = await signed('AgentAuthorization', { ...limits, agent: agent.address, permissions: 'trade' })
    const body = { ...authorised, agent: agent.address, scope: UNLIMITED_SCOPE }
    const created = await send(service.url, 'POST', `${CHAIN}/agents`, body)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const path = created.headers.get('location')!
    assert.equal(path, `${CHAIN}/agents/${agent.address}`)
    assert.deepEqual((await call(service.url, path)).body, created.body)
    const key = { ...(await signed('ApiKeyIssue', { label: 'page' })), label: 'page' }
    assert.equal((await send(service.url, 'POST', `${CHAIN}/api-keys`, key)).status, 200)
    const revoked = await send(service.url, 'DELETE', path, await signed('AgentRevocation', { agent: agent.address }))
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  })

  it('needs no delegation for a trader that is its own agent, nor for an agent that only reads', async () => {
    const trader = chain.account('trader-2')
    const self = await register(trader, trader)
    assert.equal(self.body.agent.status, 'active')
    assert.equal(self.body.delegationTx, null)
    assert.equal((await readAccount(trader, trader)).status, 200)

    const reader = chain.account('agent-2')
    const registered = await register(trader, reader, { scope: { ...UNLIMITED_SCOPE, permissions: 'read' } })
    assert.equal(registered.body.agent.status, 'pending_delegation')
    assert.equal((await readAccount(reader, trader)).status, 200)
  })

  it('refuses whatever is not exactly what the agent signed, in the documented words', async () => {
    const trader = chain.account('trader-2')
    const path = accountPath(trader)
    const of = { operation: 'getAccount', method: 'GET', path }
    const get = async (headers: Record<string, string>, at = path) =>
      (await call(service.url, at, { headers })).body.code
    const good = () => signedHeaders(domain, trader, of)

    assert.equal(await get({}), 'UNAUTHENTICATED')
    assert.equal(await get({ 'x-service-agent': trader.address }), 'UNAUTHENTICATED')
    assert.equal(await get({ ...(await good()), 'x-service-nonce': '01' }), 'VALIDATION_ERROR')
    assert.equal(await get({ ...(await good()), 'x-service-nonce': freshNonce() }), 'INVALID_SIGNATURE')
    assert.equal(await get(await good(), `${path}?x=1`), 'INVALID_SIGNATURE')
    assert.equal(await get(await signedHeaders({ ...domain, chainId: 1 }, trader, of)), 'INVALID_SIGNATURE')
    assert.equal(
      await get(await signedHeaders(domain, trader, { ...of, operation: 'createOrder' })),
      'INVALID_SIGNATURE',
    )
    const old = String(Date.now() - 31_000)
    assert.equal(await get(await signedHeaders(domain, trader, of, { timestamp: old })), 'TIMESTAMP_OUT_OF_WINDOW')
    const stranger = privateKeyToAccount(generatePrivateKey())
    assert.equal(await get(await signedHeaders(domain, stranger, of)), 'AGENT_UNKNOWN')
    const other = accountPath(chain.account('trader-1'))
    assert.equal(await get(await signedHeaders(domain, trader, { ...of, path: other }), other), 'TRADER_MISMATCH')
  })

  it('accepts a request once, also across a crash', async () => {
    const trader = chain.account('trader-2')
    const path = accountPath(trader)
    // A request is good for 30 s, and on a busy machine a start can take longer.
    await until('a restart within the window of a request', async () => {
      const headers = await signedHeaders(domain, trader, { operation: 'getAccount', method: 'GET', path })
      assert.equal((await call(service.url, path, { headers })).status, 200)
      assert.equal((await call(service.url, path, { headers })).body.code, 'NONCE_REUSED')
      await service.kill()
      service = await startService(devnet)
      const { code } = (await call(service.url, path, { headers })).body
      if (code === 'TIMESTAMP_OUT_OF_WINDOW') return false
      assert.equal(code, 'NONCE_REUSED')
      return true
    })
    assert.equal((await readAccount(trader, trader)).status, 200)
  })

  it('keeps a stranger from claiming an agent, unless the agent itself says so', async () => {
    const owner = chain.account('trader-3')
    const stranger = chain.account('trader-4')
    const agent = chain.account('agent-3')
    assert.equal((await register(owner, agent, { withoutAgent: true })).status, 201)
    const claim = await register(stranger, agent, { withoutAgent: true })
    assert.equal(claim.status, 403)
    assert.equal(claim.body.code, 'TRADER_MISMATCH')
    assert.equal((await register(stranger, agent)).status, 201)
  })

  it('replays nothing a master wallet signed, and takes back what it revokes', async () => {
    const trader = chain.account('trader-5')
    const agent = chain.account('agent-5')
    const body = await authorization(domain, trader, agent)
    assert.equal((await send(service.url, 'POST', `${CHAIN}/agents`, body)).status, 201)
    assert.equal((await send(service.url, 'POST', `${CHAIN}/agents`, body)).body.code, 'NONCE_REUSED')

    const at = `${CHAIN}/agents/${agent.address}`
    const forged = { ...(await revocation(domain, chain.account('trader-1'), agent.address)), trader: trader.address }
    assert.equal((await send(service.url, 'DELETE', at, forged)).body.code, 'INVALID_SIGNATURE')
    const revoked = await send(service.url, 'DELETE', at, await revocation(domain, trader, agent.address))
    assert.equal(revoked.status, 200)
    assert.equal(revoked.body.revocationTx.to, chain.diamond)
    assert.equal((await call(service.url, at)).body.agent.status, 'revoked')
    assert.equal((await readAccount(agent, trader)).body.code, 'AGENT_REVOKED')
    assert.equal((await register(trader, agent)).body.agent.status, 'pending_delegation')
  })

  it('expires an agent with its scope', async () => {
    const trader = chain.account('trader-5')
    const agent = privateKeyToAccount(generatePrivateKey())
    const scope = { ...UNLIMITED_SCOPE, permissions: 'read' as const, expiresAt: Date.now() + 2_000 }
    assert.equal((await register(trader, agent, { scope })).status, 201)
    await until('it expires', async () => (await readAccount(agent, trader)).body.code === 'AGENT_EXPIRED')
    assert.equal((await call(service.url, `${CHAIN}/agents/${agent.address}`)).body.agent.status, 'expired')
  })

  it('gives read-only keys: shown once, for one account, replaced by their label', async () => {
    const trader = chain.account('trader-2')
    const issue = async () => send(service.url, 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, trader, 'desk'))
    const first = await issue()
    assert.equal(first.status, 200)
    assert.match(first.body.apiKey, /^bz_[A-Za-z0-9_-]{43}$/)
    const read = (key: string, of = trader) =>
      call(service.url, accountPath(of), { headers: { 'x-service-api-key': key } })
    assert.equal((await read(first.body.apiKey)).status, 200)
    assert.equal((await read(first.body.apiKey, chain.account('trader-1'))).body.code, 'TRADER_MISMATCH')
    const second = await issue()
    assert.equal((await read(first.body.apiKey)).body.code, 'API_KEY_UNKNOWN')
    assert.equal((await read(second.body.apiKey)).status, 200)
    assert.equal((await read('nonsense')).body.code, 'API_KEY_UNKNOWN')
  })

  it('asks a contract wallet itself whether it signed', async () => {
    const agent = chain.account('agent-4')
    for (const [code, status] of [
      [YES_WALLET, 201],
      [NO_WALLET, 401],
    ] as const) {
      const wallet = privateKeyToAccount(generatePrivateKey())
      await chain.control('hardhat_setCode', wallet.address, code)
      const signer = privateKeyToAccount(generatePrivateKey())
      const body = { ...(await authorization(domain, signer, agent)), trader: wallet.address }
      assert.equal((await send(service.url, 'POST', `${CHAIN}/agents`, body)).status, status)
    }
  })

  it('refuses malformed bodies with the path of the fault, and changes nothing', async () => {
    const post = async (body: string, type = 'application/json') =>
      call(service.url, `${CHAIN}/agents`, { method: 'POST', headers: { 'content-type': type }, body })
    const good = await authorization(domain, chain.account('trader-1'), chain.account('agent-1'))
    const bad = [
      '',
      '{',
      '[]',
      'null',
      '{"a":1,"a":2}',
      '{"__proto__":{}}',
      JSON.stringify({ ...good, extra: 1 }),
      JSON.stringify({ ...good, scope: { ...UNLIMITED_SCOPE, maxLeverage: 5 } }),
      JSON.stringify({ ...good, scope: { ...UNLIMITED_SCOPE, maxLeverage: '-5' } }),
      JSON.stringify({ ...good, scope: { ...UNLIMITED_SCOPE, expiresAt: 0 } }),
      JSON.stringify({ ...good, name: 'x'.repeat(33) }),
      JSON.stringify({ ...good, timestamp: String(Date.now()) }),
      'x'.repeat(1_000_000),
    ]
    for (const body of bad) {
      const answer = await post(body)
      assert.equal(answer.status, 400, body.slice(0, 80))
      assert.equal(answer.body.code, 'VALIDATION_ERROR')
    }
    assert.equal((await post(JSON.stringify(good), 'text/plain')).body.code, 'VALIDATION_ERROR')
    assert.equal((await call(service.url, `${CHAIN}/agents/nonsense`)).body.code, 'VALIDATION_ERROR')
    assert.equal((await call(service.url, `${CHAIN}/agents/0x${'12'.repeat(20)}`)).body.code, 'AGENT_NOT_FOUND')
  })

  it('counts requests per IP and per agent, and says so in every answer', async () => {
    const own = await startService(devnet, {
      BEZEL_IP_LIMIT: '200',
      BEZEL_DATA: `${devnet.folder}/limits`,
      BEZEL_CHAINS_FILE: `${devnet.folder}/devnet.json`,
    })
    try {
      const answers = []
      // More requests than two windows allow: some are refused, even if a new window begins meanwhile.
      for (let i = 0; i < 450; i += 1) answers.push(await call(own.url, '/health'))
      const refused = answers.filter(({ status }) => status === 429)
      assert.ok(refused.length > 0 && refused.length < 450)
      assert.equal(refused[0]!.body.code, 'RATE_LIMITED')
      assert.equal(refused[0]!.body.details.scope, 'ip')
      assert.ok(Number(refused[0]!.headers.get('retry-after')) >= 1)
      assert.ok(answers.every(({ headers }) => headers.get('ratelimit-limit') === '200'))
    } finally {
      await own.stop()
    }
  })
})
