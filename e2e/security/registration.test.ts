import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AgentScope, SigningDomain } from '@bezel/protocol'
import {
  authorization,
  call,
  keyIssue,
  revocation,
  send,
  signedHeaders,
  UNLIMITED_SCOPE,
  type Answer,
} from '@bezel/testkit/agentClient.ts'
import { signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { until } from '@bezel/testkit/until.ts'
import { zeroAddress, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { startFacadeWorld, type FacadeWorld } from '../facade/facadeWorld.ts'
import { connectRaw, envelopeOf, freshNonce, postRaw } from '../facade/rawExchange.ts'

const CHAIN = '/v1/arbitrum-sepolia'

const LEVERAGE = { type: 'updateLeverage', asset: 0, isCross: false, leverage: 5 }

const READ_SCOPE: AgentScope = { ...UNLIMITED_SCOPE, permissions: 'read' }

/** Returns somebody who is nobody on the local chain. */
const stranger = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())

describe('registrations', () => {
  let world: FacadeWorld
  let domain: SigningDomain

  before(async () => {
    world = await startFacadeWorld()
    domain = (await call(world.url(), CHAIN)).body.signing.domain
  })
  after(() => world?.stop())

  type Registered = Parameters<typeof authorization>[3]
  const register = async (trader: PrivateKeyAccount, agent: PrivateKeyAccount, of: Registered = {}) =>
    send(world.url(), 'POST', `${CHAIN}/agents`, await authorization(domain, trader, agent, of))
  const revoke = async (trader: PrivateKeyAccount, agent: PrivateKeyAccount) =>
    send(world.url(), 'DELETE', `${CHAIN}/agents/${agent.address}`, await revocation(domain, trader, agent.address))
  /** Sends a request that is signed with one key; `headers` are sent beside the signature. */
  async function signed(
    signer: PrivateKeyAccount,
    [operation, method, path]: readonly [string, string, string],
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const own = await signedHeaders(domain, signer, { operation, method, path: CHAIN + path })
    return call(world.url(), CHAIN + path, { method, headers: { ...own, ...headers } })
  }
  const readAccount = (agent: PrivateKeyAccount, trader: PrivateKeyAccount, headers?: Record<string, string>) =>
    signed(agent, ['getAccount', 'GET', `/account/${trader.address}`], headers)
  const outcome = ({ status, body }: Answer): unknown[] => [status, body.code]

  it('have a scope that names listed markets and lets the agent do something', async () => {
    const [trader, agent] = [stranger(), stranger()]
    const tryScope = async (scope: Partial<AgentScope>) =>
      register(trader, agent, { scope: { ...UNLIMITED_SCOPE, ...scope } })
    const listed = (await call(world.url(), `${CHAIN}/markets`)).body.data.map(
      ({ symbol }: { symbol: string }) => symbol,
    )
    const wrong: readonly [Partial<AgentScope>, RegExp][] = [
      [{ markets: ['NO/USD'] }, /NO\/USD, which is not listed/],
      [{ markets: ['BTC/USDX'] }, /BTC\/USDX, which is not listed .*did you mean BTC\/USD\?/],
      [{ markets: [] }, /must name a market/],
      [{ markets: Array.from({ length: 65 }, (_, at) => `M${at}/USD`) }, /markets/],
      [{ maxLeverage: '0.000' }, /must be above 0/],
      [{ expiresAt: Date.now() - 1 }, /must be after server time/],
    ]
    for (const [scope, message] of wrong) {
      const answer = await tryScope(scope)
      assert.deepEqual(outcome(answer), [400, 'VALIDATION_ERROR'])
      assert.match(JSON.stringify(answer.body.details), message)
      assert.match(answer.body.message, message)
    }
    assert.equal((await tryScope({ markets: listed.slice(0, 64) })).status, 201)
  })

  it('of a revoked agent are not taken by a stranger without its signature', async () => {
    const [owner, thief, agent] = [stranger(), stranger(), stranger()]
    assert.equal((await register(owner, agent, { scope: READ_SCOPE })).status, 201)
    assert.equal((await readAccount(agent, owner)).status, 200)
    assert.equal((await revoke(owner, agent)).status, 200)
    assert.deepEqual(outcome(await register(thief, agent, { withoutAgent: true })), [403, 'TRADER_MISMATCH'])
    assert.equal((await register(owner, agent, { scope: READ_SCOPE })).status, 201)
    assert.equal((await readAccount(agent, owner)).status, 200)
  })

  it('never come back through a second trader once they are revoked', async () => {
    const [owner, second, agent] = [stranger(), stranger(), stranger()]
    const struct = await authorization(domain, owner, agent, { scope: READ_SCOPE })
    const sendIt = () => send(world.url(), 'POST', `${CHAIN}/agents`, struct)
    assert.equal((await sendIt()).status, 201)
    assert.equal((await revoke(owner, agent)).status, 200)
    const moved = await register(second, agent, { scope: READ_SCOPE, timestamp: struct.timestamp + 1 })
    assert.equal(moved.status, 201)
    assert.deepEqual(outcome(await sendIt()), [401, 'NONCE_REUSED'])
    assert.deepEqual(outcome(await readAccount(agent, owner)), [403, 'TRADER_MISMATCH'])
  })

  it('refuse credentials of another trader than the one that is named, on every way in', async () => {
    const [owner, agent, other] = [stranger(), stranger(), stranger()]
    await register(owner, agent, { scope: READ_SCOPE })
    const named = { 'x-service-trader': other.address }
    assert.equal((await readAccount(agent, owner, { 'x-service-trader': owner.address })).status, 200)
    assert.deepEqual(outcome(await readAccount(agent, owner, named)), [403, 'TRADER_MISMATCH'])
    const cancel = ['cancelOrder', 'DELETE', '/orders/1'] as const
    assert.deepEqual(outcome(await signed(agent, cancel, named)), [403, 'TRADER_MISMATCH'])
    const issued = await send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, owner, 'desk'))
    const byKey = (headers: Record<string, string>) =>
      call(world.url(), `${CHAIN}/account/${owner.address}`, {
        headers: { 'x-service-api-key': issued.body.apiKey, ...headers },
      })
    assert.equal((await byKey({})).status, 200)
    assert.deepEqual(outcome(await byKey(named)), [403, 'TRADER_MISMATCH'])
    const socket = new WebSocket(`${world.url().replace('http', 'ws')}${CHAIN}/ws`)
    const refusal = await new Promise<string>((told, failed) => {
      socket.on('open', () => {
        socket.send(JSON.stringify({ op: 'auth', apiKey: issued.body.apiKey, trader: other.address }))
      })
      socket.on('message', (data) => {
        if (!String(data).includes('"hello"')) told(String(data))
      })
      socket.on('error', failed)
    })
    assert.match(refusal, /TRADER_MISMATCH/)
    socket.close()
    const preflight = await fetch(`${world.url()}${CHAIN}/account/${owner.address}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'GET' },
    })
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /X-Service-Trader/)
  })

  it('of API keys are listed by wallet and agent, and ended by the wallet alone', async () => {
    const [owner, agent] = [stranger(), stranger()]
    await register(owner, agent, { scope: READ_SCOPE })
    const issue = async (label: string) =>
      send(world.url(), 'POST', `${CHAIN}/api-keys`, await keyIssue(domain, owner, label, freshNonce()))
    const { apiKey } = (await issue('desk')).body
    await issue('never used')
    const read = () =>
      call(world.url(), `${CHAIN}/account/${owner.address}`, { headers: { 'x-service-api-key': apiKey } })
    assert.equal((await read()).status, 200)
    const list = (signer: PrivateKeyAccount, headers?: Record<string, string>) =>
      signed(signer, ['listApiKeys', 'GET', '/api-keys'], headers)
    for (const signer of [owner, agent]) {
      const { status, body } = await list(signer)
      const told = body.data.map((key: Record<string, unknown>) => [key['label'], typeof key['lastUsedAt']])
      assert.deepEqual(
        [status, told],
        [
          200,
          [
            ['desk', 'number'],
            ['never used', 'object'],
          ],
        ],
      )
    }
    assert.deepEqual((await list(stranger())).body, { data: [] }, 'a wallet without keys needs no registration')
    assert.deepEqual(outcome(await list(owner, { 'x-service-trader': agent.address })), [403, 'TRADER_MISMATCH'])
    const byKey = await call(world.url(), `${CHAIN}/api-keys`, { headers: { 'x-service-api-key': apiKey } })
    assert.deepEqual(outcome(byKey), [401, 'UNAUTHENTICATED'])
    const end = (signer: PrivateKeyAccount, label: string) =>
      signed(signer, ['revokeApiKey', 'DELETE', `/api-keys/${encodeURIComponent(label)}`])
    assert.deepEqual(outcome(await end(agent, 'desk')), [404, 'NOT_FOUND'])
    assert.equal((await read()).status, 200, 'an agent ended nothing')
    assert.deepEqual((await end(owner, 'desk')).body, { label: 'desk', trader: owner.address })
    assert.deepEqual(outcome(await read()), [401, 'API_KEY_UNKNOWN'])
    assert.deepEqual(outcome(await end(owner, 'desk')), [404, 'NOT_FOUND'])
    for (let at = 0; at < 19; at += 1) assert.equal((await issue(`key ${at}`)).status, 200)
    assert.deepEqual(outcome(await issue('one more')), [422, 'UNSUPPORTED'])
  })

  describe('through the facade', () => {
    const approve = (key: Hex, agentAddress: string, agentName = 'bot') =>
      postRaw(
        world,
        signUserSigned(key, {
          type: 'approveAgent',
          signatureChainId: '0x66eee',
          hyperliquidChain: 'Testnet',
          agentAddress: agentAddress.toLowerCase(),
          agentName,
          nonce: freshNonce(),
        }),
      ).then(({ text }) => JSON.parse(text))
    const act = async (agent: PrivateKeyAccount) =>
      JSON.parse((await postRaw(world, await envelopeOf(agent, LEVERAGE))).text)

    it('end the leaked key when its name is approved again, and by the zero address', async () => {
      const key = world.keyOf('trader-3')
      const leaked = await connectRaw(world, 'trader-3', 'agent-3')
      const [second, third] = [stranger(), stranger()]
      assert.equal((await approve(key, leaked.address)).status, 'ok')
      assert.equal((await act(leaked)).status, 'ok')
      assert.equal((await approve(key, second.address)).status, 'ok')
      assert.match((await act(leaked)).response, /it was revoked/)
      assert.equal((await act(second)).status, 'ok')
      assert.equal((await approve(key, third.address, 'other')).status, 'ok')
      assert.equal((await approve(key, zeroAddress)).status, 'ok')
      assert.match((await act(second)).response, /it was revoked/)
      assert.equal((await act(third)).status, 'ok', 'another name goes on')
    })

    it('lock nobody out by a junk signature, before or after', async () => {
      const [key, agent] = [world.keyOf('trader-3'), stranger()]
      const junk = () => approve(generatePrivateKey(), agent.address)
      assert.equal((await junk()).status, 'ok')
      assert.equal((await approve(key, agent.address)).status, 'ok', 'its delegate is the relayer')
      assert.match((await junk()).response, /registered for another trader/)
      await until('the owner acts', async () => (await act(agent)).status === 'ok')
      assert.equal((await approve(key, zeroAddress)).status, 'ok')
      assert.match((await junk()).response, /registered for another trader/, 'also while it is revoked')
      assert.equal((await approve(key, agent.address)).status, 'ok')
      assert.equal((await act(agent)).status, 'ok')
    })
  })
})
