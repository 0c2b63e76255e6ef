import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  AGENT_AUTHORIZATION_FIELDS,
  REQUEST_FIELDS,
  requestDomain,
  type Address,
  type SigningDomain,
  type TypedDataField,
} from '@bezel/protocol'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import type { FastifyInstance } from 'fastify'
import { hashTypedData, keccak256, stringToBytes, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { admitInProcess } from '../../access/admission.ts'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { createRegistrationLimit } from '../../access/registrationLimit.ts'
import { NO_CONTROLS } from '../../access/testing/noControls.ts'
import { MARKET_BODY, openOrdersWorld, type OrdersWorld } from '../../orders/testing/ordersWorld.ts'
import { selectEngine } from '../../signatures/engines.ts'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import { createApp } from '../createApp.ts'
import { createAgentRoute } from '../routes/agents/createAgent.ts'
import { createOrderRoute } from '../routes/orders/createOrder.ts'
import { registerHooks } from './registerHooks.ts'
import { registerRoute } from './registerRoute.ts'

// A stranger writes a first client and signs wrongly in one way. It has its own values and the answer, and no other
// help: the answer has to lead it to the cause.

const PATH = '/v1/arbitrum/orders'
const BODY = JSON.stringify(MARKET_BODY)
const AGENTS_PATH = '/v1/arbitrum/agents'

const agent = privateKeyToAccount(generatePrivateKey())
const trader = privateKeyToAccount(generatePrivateKey())
const otherKey = privateKeyToAccount(generatePrivateKey())

/** The values that the stranger signs. */
interface Signed {
  readonly domain: SigningDomain
  readonly primaryType: string
  readonly fields: readonly TypedDataField[]
  readonly method: string
  readonly path: string
  readonly body: string
  readonly timestamp: string
  readonly nonce: string
  readonly sign: (typedData: never, digest: Hex) => Promise<Hex>
}

/** The struct by which the stranger authorises an agent. */
interface Authorization {
  readonly domain: SigningDomain
  readonly primaryType: string
  readonly message: Readonly<Record<string, string | number>>
  readonly wallet: typeof trader
  /** The key that signs for the agent. */
  readonly agentKey: typeof trader
}

interface Refusal {
  readonly code: string
  readonly message: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever the service sent and asserts on it
  readonly details: Record<string, any>
}

describe('a signature that is wrong in one way', () => {
  let world: OrdersWorld
  let app: FastifyInstance
  let good: Omit<Signed, 'timestamp' | 'nonce'>
  let lastNonce = 0
  let recoveries = 0

  before(async () => {
    world = await openOrdersWorld()
    world.node.delegate = agent.address as Address
    await world.register({ agent: agent.address as Address })
    const { chain, delegates, client } = world.orders
    const domain = requestDomain({ name: 'Bezel Trading API', chainId: chain.chainId, diamond: chain.diamond })
    good = {
      domain,
      primaryType: 'createOrder',
      fields: REQUEST_FIELDS,
      method: 'POST',
      path: PATH,
      body: BODY,
      sign: (typedData) => agent.signTypedData(typedData),
    }
    const now = (): number => world.market.nowMs
    const limits = createInProcessLimits()
    const { registry, nonces } = world
    const selected = await selectEngine()
    const engine: SignatureEngine = {
      ...selected,
      recoverPublicKey(...of) {
        recoveries += 1
        return selected.recoverPublicKey(...of)
      },
    }
    const markets = (): ReadonlyMap<string, unknown> =>
      new Map([
        ['BTC/USD', {}],
        ['ETH/USD', {}],
      ])
    app = createApp('silent')
    registerHooks(app, { limits, limit: 600, trustedProxies: 0, now })
    registerRoute(app, createAgentRoute, {
      agentsOf: () => ({ chain, domain, registry, delegates, client, relayer: null, markets }),
      registrations: createRegistrationLimit(createInProcessLimits(), 1_000),
      burnRevoked: async () => [],
      engine,
      // A limit of its own for each check, because the table has more rows than a minute allows.
      contractCalls: { take: (...of) => createInProcessLimits().take(...of) },
      trustedProxies: 0,
      now,
    })
    registerRoute(app, createOrderRoute, {
      agentsOf: () => ({ chain, domain, registry, delegates, client, relayer: null, markets }),
      ordersOf: () => world.orders,
      agentWritesLimit: 60,
      controls: NO_CONTROLS,
      now,
      authenticate: {
        registry,
        engine,
        limits,
        agentLimit: 300,
        admission: admitInProcess({ limits, nonces, now }),
        nonces,
        headerPrefix: 'X-Service-',
        domainOf: () => domain,
        now,
      },
    })
  })
  after(async () => {
    await app.close()
    await world.remove()
  })

  /** Signs some values, sends the order with its right ones, and returns the answer with all that the sender knows. */
  async function send(changes: Partial<Signed>, headers: Record<string, string> = {}) {
    const [timestamp, nonce] = [String(world.market.nowMs), String((lastNonce += 1))]
    const signed: Signed = { ...good, timestamp, nonce, ...changes }
    const { domain, primaryType, fields, method, path } = signed
    const bodyHash = keccak256(stringToBytes(signed.body))
    const message = { method, path, bodyHash, timestamp: signed.timestamp, nonce: signed.nonce }
    const typedData = { domain, primaryType, types: { [primaryType]: fields }, message } as never
    const digest = hashTypedData(typedData)
    const sent = {
      'content-type': 'application/json',
      'x-service-agent': agent.address,
      'x-service-timestamp': timestamp,
      'x-service-nonce': nonce,
      'x-service-signature': await signed.sign(typedData, digest),
      ...headers,
    }
    const answer = await app.inject({ method: 'POST', url: PATH, headers: sent, payload: BODY })
    return { status: answer.statusCode, refusal: answer.json<Refusal>(), signed, bodyHash, digest }
  }

  /** Compares the answer with what was signed, as the stranger would, and returns the cause it finds. */
  function causeOf({
    refusal: { message, details },
    signed,
    bodyHash,
    digest,
  }: Awaited<ReturnType<typeof send>>): string {
    const { domain, primaryType, fields, method, path, timestamp, nonce } = signed
    const type = `${primaryType}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
    const differences = [
      ...Object.keys(details.domain).filter(
        (name) => details.domain[name] !== domain[name as keyof SigningDomain] && details.domain[name] !== undefined,
      ),
      details.operationId !== primaryType && 'primary type',
      details.method !== method && 'method',
      details.path !== path && 'path',
      details.bodyHash !== bodyHash && 'body',
      details.timestamp !== timestamp && 'timestamp',
      details.nonce !== nonce && 'nonce',
    ].filter((difference) => difference !== false)
    if (differences.length > 0) return differences.join(', ')
    if (!message.includes(` ${type} `)) return 'types of the fields'
    if (details.digest !== digest) return 'encoding'
    if (details.recovered === otherKey.address) return 'my other key'
    return /personal_sign/.test(message) ? 'no typed data, as the message says' : 'no idea'
  }

  it('is accepted when nothing is wrong', async () => {
    const { status, refusal } = await send({})
    assert.equal(status, 201, JSON.stringify(refusal))
  })

  const seconds = (): string => String(Math.floor(world.market.nowMs / 1_000))
  const WAYS: readonly (readonly [way: string, changes: () => Partial<Signed>, cause: string])[] = [
    ['another domain name', () => ({ domain: { ...good.domain, name: 'Bezel' } }), 'name'],
    ['the chain id of another chain', () => ({ domain: { ...good.domain, chainId: 1 } }), 'chainId'],
    [
      'another Diamond',
      () => ({ domain: { ...good.domain, verifyingContract: otherKey.address } }),
      'verifyingContract',
    ],
    ['a primary type of its own', () => ({ primaryType: 'Order' }), 'primary type'],
    ['a path without its chain', () => ({ path: '/orders' }), 'path'],
    ['a body that is serialised again', () => ({ body: JSON.stringify(MARKET_BODY, null, 2) }), 'body'],
    ['a timestamp in seconds', () => ({ timestamp: seconds() }), 'timestamp'],
    ['another nonce than it sends', () => ({ nonce: '123456789' }), 'nonce'],
    [
      'a nonce that is a string',
      () => ({
        fields: REQUEST_FIELDS.map((field) => (field.name === 'nonce' ? { ...field, type: 'string' } : field)),
      }),
      'types of the fields',
    ],
    ['a method in small letters', () => ({ method: 'post' }), 'method'],
    ['another key', () => ({ sign: (typedData: never) => otherKey.signTypedData(typedData) }), 'my other key'],
    [
      'a text in place of typed data',
      () => ({ sign: (_typedData: never, digest: Hex) => agent.signMessage({ message: { raw: digest } }) }),
      'no typed data, as the message says',
    ],
  ]
  for (const [way, changes, cause] of WAYS) {
    it(`is refused for ${way}, and the answer says so`, async () => {
      recoveries = 0
      const answer = await send(changes())
      assert.equal(recoveries, 1)
      const { status, refusal } = answer
      assert.deepEqual([status, refusal.code], [401, 'INVALID_SIGNATURE'])
      assert.equal(causeOf(answer), cause, JSON.stringify(refusal))
      assert.match(refusal.message, /primary type createOrder/)
      assert.ok(refusal.message.includes(`not of ${agent.address}`))
      assert.equal(refusal.details.docs, '/docs/errors#invalid_signature')
      assert.doesNotMatch(JSON.stringify(refusal), /x-service-signature|"signature"/)
    })
  }

  /** Authorises an agent for two markets with some wrong value signed, and returns the answer. */
  async function authorize(changes: Partial<Authorization>) {
    const scope = { ...UNLIMITED_SCOPE, markets: ['BTC/USD', 'ETH/USD'], maxLeverage: '20' }
    const body = { trader: trader.address, agent: agent.address, scope, name: 'bot', timestamp: world.market.nowMs }
    const signed: Authorization = {
      domain: good.domain,
      primaryType: 'AgentAuthorization',
      wallet: trader,
      agentKey: agent,
      ...changes,
      message: {
        agent: agent.address,
        name: 'bot',
        markets: 'BTC/USD,ETH/USD',
        maxLeverage: '20',
        dailySpendCapUsd: '',
        expiresAt: 0,
        permissions: 'trade',
        timestamp: body.timestamp,
        ...changes.message,
      },
    }
    const { domain, primaryType, message, wallet, agentKey } = signed
    const struct = { domain, primaryType, types: { [primaryType]: AGENT_AUTHORIZATION_FIELDS }, message } as never
    const signatures = {
      signature: await wallet.signTypedData(struct),
      agentSignature: await agentKey.signTypedData(struct),
    }
    const headers = { 'content-type': 'application/json' }
    const payload = JSON.stringify({ ...body, ...signatures })
    const answer = await app.inject({ method: 'POST', url: AGENTS_PATH, headers, payload })
    return {
      status: answer.statusCode,
      refusal: answer.json<Refusal>(),
      signed,
      payload,
      digest: hashTypedData(struct),
    }
  }

  /** Compares the answer with the struct that was signed, as the stranger would, and returns the cause it finds. */
  function causeOfStruct({
    refusal: { message: text, details },
    signed: { domain, primaryType, message },
    digest,
  }: Awaited<ReturnType<typeof authorize>>): string {
    const names = (right: Record<string, unknown>, own: object): string[] =>
      Object.keys(right).filter((name) => right[name] !== own[name as never])
    const differences = [...names(details.domain, domain), ...names(details.values, message)]
    if (differences.length > 0) return differences.join(', ')
    if (!text.includes(`primary type ${primaryType})`)) return 'primary type'
    if (details.digest !== digest) return 'encoding'
    return details.recovered === otherKey.address ? 'my other key' : 'no idea'
  }

  it('is accepted of a wallet when nothing is wrong', async () => {
    const { status, refusal } = await authorize({})
    assert.equal(status, 201, JSON.stringify(refusal))
  })

  const WRONG_STRUCTS: readonly (readonly [way: string, changes: () => Partial<Authorization>, cause: string])[] = [
    ['markets as JSON', () => ({ message: { markets: '["BTC/USD","ETH/USD"]' } }), 'markets'],
    ['markets joined with blanks', () => ({ message: { markets: 'BTC/USD, ETH/USD' } }), 'markets'],
    ['the text null for no cap', () => ({ message: { dailySpendCapUsd: 'null' } }), 'dailySpendCapUsd'],
    ['another leverage', () => ({ message: { maxLeverage: '20.0' } }), 'maxLeverage'],
    ['another name', () => ({ message: { name: '' } }), 'name'],
    ['a timestamp in seconds', () => ({ message: { timestamp: Number(seconds()) } }), 'timestamp'],
    ['another domain name', () => ({ domain: { ...good.domain, name: 'Gains Trading API' } }), 'name'],
    ['another chain', () => ({ domain: { ...good.domain, chainId: 1 } }), 'chainId'],
    ['a primary type of its own', () => ({ primaryType: 'createAgent' }), 'primary type'],
    ['another wallet', () => ({ wallet: otherKey }), 'my other key'],
    ['another key of the agent', () => ({ agentKey: otherKey }), 'my other key'],
  ]
  for (const [way, changes, cause] of WRONG_STRUCTS) {
    it(`is refused of a wallet for ${way}, and the answer says so`, async () => {
      const answer = await authorize(changes())
      const { status, refusal, payload } = answer
      assert.deepEqual([status, refusal.code], [401, 'INVALID_SIGNATURE'], JSON.stringify(refusal))
      assert.equal(causeOfStruct(answer), cause, JSON.stringify(refusal))
      const { operationId, path, bodyHash } = refusal.details
      assert.deepEqual([operationId, path, bodyHash], ['createAgent', AGENTS_PATH, keccak256(stringToBytes(payload))])
      assert.doesNotMatch(JSON.stringify(refusal), /agentSignature|"signature"/)
    })
  }

  it('is told of a timestamp header in seconds, of a nonce in another form, of an agent nobody registered', async () => {
    const late = await send({}, { 'x-service-timestamp': seconds() })
    assert.equal(late.refusal.code, 'TIMESTAMP_OUT_OF_WINDOW')
    assert.match(late.refusal.message, /looks like seconds: send and sign epoch milliseconds/)
    assert.equal(late.refusal.details.serverTime, world.market.nowMs)
    const hex = await send({}, { 'x-service-nonce': '0x10' })
    assert.deepEqual(hex.refusal.details.issues, [
      { path: 'headers.X-Service-Nonce', message: 'must be a whole number without leading zeros' },
    ])
    const unknown = await send({}, { 'x-service-agent': otherKey.address })
    assert.deepEqual([unknown.refusal.code, unknown.refusal.details.agent], ['AGENT_UNKNOWN', otherKey.address])
  })

  it("has no signer when its bytes can be nobody's", async () => {
    const { refusal } = await send({}, { 'x-service-signature': `0x${'1'.repeat(130)}` })
    assert.deepEqual([refusal.code, refusal.details.recovered], ['INVALID_SIGNATURE', null])
    assert.match(refusal.message, /^The signature is of nobody/)
  })
})
