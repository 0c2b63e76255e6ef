import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { ERRORS, type AgentScope, type ErrorCode } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ERROR_DETAILS } from '../packages/server/src/docs/reference/errorPage.ts'
import { until } from '@bezel/testkit/until.ts'
import {
  authorization,
  call,
  freshNonce,
  keyIssue,
  revocation,
  signedHeaders,
  type Answer,
} from '@bezel/testkit/agentClient.ts'
import {
  LIMITS,
  MAX_PREPARED_ORDERS,
  OPEN_CHAIN,
  READ_ONLY_CHAIN,
  startErrorWorld,
  type ErrorWorld,
  type SignedRequest,
} from './errors/errorWorld.ts'

const PATH = `/v1/${OPEN_CHAIN}`

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

const LIMIT = { ...MARKET, type: 'limit', price: '50000' }

/** An answer with its expected `details`: their value, or a check of them. */
interface Told {
  readonly answer: Answer
  // oxlint-disable-next-line typescript/no-explicit-any -- as the body of an answer
  readonly details?: Record<string, unknown> | ((details: any) => void)
}

describe('every error, as a client meets it', () => {
  let world: ErrorWorld
  /** Traders who are their own agents and need no delegation. */
  let alice: PrivateKeyAccount
  let bob: PrivateKeyAccount

  before(async () => {
    world = await startErrorWorld()
    alice = await as('trader-1')
    bob = await as('trader-2')
  })
  after(() => world?.stop())

  async function as(name: string, scope: Partial<AgentScope> = {}): Promise<PrivateKeyAccount> {
    const trader = world.trader(name)
    return world.register({ trader, agent: trader, scope })
  }

  async function foreignAgentOf(
    trader: PrivateKeyAccount,
    scope: Partial<AgentScope> = {},
  ): Promise<PrivateKeyAccount> {
    return world.register({ trader, agent: world.stranger(), scope })
  }

  const create = (agent: PrivateKeyAccount, body: unknown): Promise<Answer> =>
    world.signed(agent, { operation: 'createOrder', method: 'POST', path: '/orders', body })
  const positions = (of: PrivateKeyAccount): SignedRequest => ({
    operation: 'listPositions',
    path: `/account/${of.address}/positions`,
  })
  const cancel = (agent: PrivateKeyAccount, id: string): Promise<Answer> =>
    world.signed(agent, { operation: 'cancelOrder', method: 'DELETE', path: `/orders/${id}` })

  async function prepared(agent: PrivateKeyAccount, body: unknown = LIMIT): Promise<string> {
    const answer = await create(agent, body)
    assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body))
    return answer.body.order.id
  }

  /** The way to provoke each error code. The type demands one for every code. */
  const CASES: Readonly<Record<ErrorCode, () => Promise<Told>>> = {
    VALIDATION_ERROR: async () => ({
      answer: await create(alice, { ...MARKET, size: 1, colour: 'red' }),
      details: ({ issues }) =>
        assert.deepEqual(issues.map(({ path }: { path: string }) => path).toSorted(), ['body.colour', 'body.size']),
    }),

    UNAUTHENTICATED: async () => ({ answer: await world.get(`${PATH}/account/${alice.address}/positions`) }),
    INVALID_SIGNATURE: async () => ({
      answer: await world.signed(alice, { ...positions(alice), operation: 'listFills' }),
    }),
    TIMESTAMP_OUT_OF_WINDOW: async () => ({
      answer: await world.signed(alice, { ...positions(alice), overrides: { timestamp: String(Date.now() - 30_100) } }),
      details: ({ serverTime }) => assert.ok(serverTime <= Date.now() && serverTime > Date.now() - 600_000),
    }),
    NONCE_REUSED: async () => {
      const request = { ...positions(alice), overrides: { nonce: freshNonce() } }
      assert.equal((await world.signed(alice, request)).status, 200)
      return { answer: await world.signed(alice, request) }
    },
    AGENT_UNKNOWN: async () => ({ answer: await world.signed(world.stranger(), positions(alice)) }),
    API_KEY_UNKNOWN: async () => ({
      answer: await world.get(`${PATH}/account/${alice.address}/positions`, {
        'x-service-api-key': `bz_${'A'.repeat(43)}`,
      }),
    }),

    AGENT_NOT_DELEGATED: async () => ({
      answer: await world.signed(await foreignAgentOf(alice), positions(alice)),
      details: ({ delegationTx }) => {
        assert.deepEqual(Object.keys(delegationTx), ['to', 'data', 'chainId'])
        assert.equal(delegationTx.to, world.chain.diamond)
      },
    }),
    AGENT_EXPIRED: async () => {
      const agent = await foreignAgentOf(alice, { permissions: 'read', expiresAt: Date.now() + 2_000 })
      await sleep(2_050)
      return { answer: await world.signed(agent, positions(alice)) }
    },
    AGENT_REVOKED: async () => {
      const agent = await foreignAgentOf(alice, { permissions: 'read' })
      const body = await revocation(await world.domain(), alice, agent.address)
      assert.equal((await world.send('DELETE', `${PATH}/agents/${agent.address}`, body)).status, 200)
      return { answer: await world.signed(agent, positions(alice)) }
    },
    SCOPE_READ_ONLY: async () => ({
      answer: await create(await foreignAgentOf(alice, { permissions: 'read' }), MARKET),
    }),
    SCOPE_MARKET_NOT_ALLOWED: async () => ({
      answer: await create(await as('trader-3', { markets: ['ETH/USD'] }), MARKET),
      details: { market: 'BTC/USD', markets: ['ETH/USD'] },
    }),
    SCOPE_LEVERAGE_EXCEEDED: async () => ({
      answer: await create(await as('trader-3', { maxLeverage: '5' }), MARKET),
      details: { leverage: '10', maxLeverage: '5' },
    }),
    SCOPE_SPEND_CAP_EXCEEDED: async () => ({
      answer: await create(await as('trader-3', { dailySpendCapUsd: '500' }), LIMIT),
      // 0.02 BTC at 50,000, with half of the spread and the impact of the order itself.
      details: ({ notionalUsd, ...details }) => {
        assert.ok(Number(notionalUsd) > 1_000.2 && Number(notionalUsd) < 1_000.3, notionalUsd)
        assert.deepEqual(details, { spentUsd: '0', dailySpendCapUsd: '500' })
      },
    }),
    TRADER_MISMATCH: async () => ({ answer: await world.signed(alice, positions(bob)) }),

    CHAIN_NOT_FOUND: async () => ({
      answer: await world.get('/v1/polygon'),
      details: { chains: [OPEN_CHAIN, READ_ONLY_CHAIN] },
    }),
    MARKET_NOT_FOUND: async () => ({ answer: await world.get(`${PATH}/markets/NOPE-USD`) }),
    ORDER_NOT_FOUND: async () => ({
      answer: await world.signed(alice, { operation: 'getOrder', path: '/orders/9007199254740991' }),
    }),
    POSITION_NOT_FOUND: async () => ({
      answer: await world.signed(alice, {
        operation: 'closePosition',
        method: 'POST',
        path: '/positions/9007199254740991/close',
        body: {},
      }),
    }),
    AGENT_NOT_FOUND: async () => ({ answer: await world.get(`${PATH}/agents/${world.stranger().address}`) }),
    NOT_FOUND: async () => ({ answer: await world.get(`${PATH}/nothing/here`) }),

    IDEMPOTENCY_CONFLICT: async () => {
      const id = await prepared(alice, { ...LIMIT, clientId: 'mine' })
      const answer = await create(alice, { ...LIMIT, clientId: 'mine', size: '0.03', leverage: '11' })
      await cancel(alice, id)
      return { answer, details: { clientId: 'mine', differing: ['size', 'leverage'] } }
    },
    ORDER_NOT_MODIFIABLE: async () => {
      const id = await prepared(alice)
      assert.equal((await cancel(alice, id)).status, 200)
      return { answer: await cancel(alice, id), details: { id, status: 'expired' } }
    },
    TOO_MANY_PREPARED_ORDERS: async () => {
      for (let made = 0; made < MAX_PREPARED_ORDERS; made += 1) await prepared(bob)
      return { answer: await create(bob, LIMIT), details: { limit: MAX_PREPARED_ORDERS } }
    },

    PRECISION_ERROR: async () => ({
      answer: await create(alice, { ...LIMIT, price: '50000.123' }),
      details: { field: 'price', value: '50000.123', maxDecimals: 2 },
    }),
    LEVERAGE_OUT_OF_RANGE: async () => ({
      answer: await create(alice, { ...LIMIT, leverage: '1000' }),
      details: ({ leverage, minLeverage, maxLeverage }) => {
        assert.equal(leverage, '1000')
        assert.ok(Number(minLeverage) < Number(maxLeverage) && Number(maxLeverage) < 1000)
      },
    }),
    SIZE_BELOW_MINIMUM: async () => ({
      answer: await create(alice, { ...LIMIT, size: '0.00001' }),
      details: ({ notionalUsd, minPositionUsd, collateralUsd, minCollateralUsd }) => {
        assert.ok(Number(notionalUsd) > 0.5 && Number(notionalUsd) < 0.501, notionalUsd)
        assert.ok(Number(notionalUsd) < Number(minPositionUsd) && Number(collateralUsd) < Number(minCollateralUsd))
      },
    }),
    MARKET_CLOSED: async () => {
      const order = { ...MARKET, market: 'ETH/USD', size: '0.5' }
      const isOpen = async () => (await world.get(`${PATH}/markets/ETH-USD`)).body.isOpen
      await world.chain.control('bezel_setMarketOpen', 'ETH/USD', false)
      await until('ETH/USD is closed', async () => (await isOpen()) === false)
      const answer = await create(alice, order)
      await world.chain.control('bezel_setMarketOpen', 'ETH/USD', null)
      return { answer, details: { market: 'ETH/USD', opensAt: null } }
    },
    COLLATERAL_NOT_SUPPORTED: async () => ({
      answer: await create(alice, { ...LIMIT, collateral: 'NOPE' }),
      details: ({ collateral, supported }) => {
        assert.equal(collateral, 'NOPE')
        assert.ok(supported.includes('USDC'))
      },
    }),
    SIMULATION_REVERTED: async () => ({
      answer: await create(alice, { ...MARKET, tp: '50000' }),
      details: ({ errorName, calldata }) => {
        assert.equal(errorName, 'TradeTpInvalid')
        assert.match(calldata, /^0x[0-9a-f]{64,}$/)
      },
    }),
    SUBMISSION_MISMATCH: async () => {
      const id = await prepared(alice)
      const [log] = await world.chain.client.getLogs({ address: world.chain.diamond, fromBlock: 0n })
      const body = { txHash: log!.transactionHash }
      const answer = await world.signed(alice, {
        operation: 'submitOrder',
        method: 'POST',
        path: `/orders/${id}/submit`,
        body,
      })
      await cancel(alice, id)
      return { answer }
    },
    UNSUPPORTED: async () => ({ answer: await create(alice, { ...LIMIT, reduceOnly: true }) }),

    /** On a read-only chain the facade has no relayer. */
    CHAIN_READ_ONLY: async () => ({
      answer: await world.send('POST', `/hl/${READ_ONLY_CHAIN}/exchange`, {
        action: { type: 'scheduleCancel' },
        nonce: Date.now(),
        signature: { r: '0x1', s: '0x1', v: 27 },
      }),
    }),

    RATE_LIMITED: async () => ({
      answer: await untilLimited(LIMITS.ip, () => world.get('/health', { 'x-forwarded-for': '203.0.113.7' })),
      details: { scope: 'ip' },
    }),

    /** A row that a broken disk or a bug could leave: the service must report a failure without the row's content. */
    INTERNAL: async () => {
      const id = await prepared(alice)
      const store = new DatabaseSync(join(world.devnet.folder, 'bezel.db'), { timeout: 60_000 })
      const { state } = store.prepare('select state from orders where id = ?').get(id) as { state: string }
      const keep = store.prepare('update orders set state = ? where id = ?')
      keep.run('{"secret of the inside', id)
      const answer = await world.signed(alice, { operation: 'getOrder', path: `/orders/${id}` })
      keep.run(state, id)
      store.close()
      assert.ok(answer.body.message.includes(answer.headers.get('x-request-id')))
      assert.doesNotMatch(JSON.stringify(answer.body), /secret|JSON|SyntaxError|state/)
      assert.equal((await cancel(alice, id)).status, 200)
      return { answer }
    },
    UPSTREAM_UNAVAILABLE: async () => {
      world.node.fault = { kind: 'down' }
      const agent = await world.register({ trader: alice, agent: world.stranger(), chain: READ_ONLY_CHAIN })
      return { answer: await world.signed(agent, { ...positions(alice), chain: READ_ONLY_CHAIN }) }
    },
    NOT_READY: async () => {
      world.node.fault = { kind: 'down' }
      const markets = (): Promise<Answer> =>
        world.get(`/v1/${READ_ONLY_CHAIN}/markets`, { 'x-forwarded-for': '203.0.113.10' })
      await until('the chain lags', async () => (await markets()).status !== 200)
      const answer = await markets()
      assert.equal(answer.headers.get('retry-after'), '1')
      return { answer, details: { reason: 'chain_lagging' } }
    },
  }

  /** Repeats a request until it is refused. A window may end meanwhile, but not twice. */
  async function untilLimited(limit: number, ask: () => Promise<Answer>): Promise<Answer> {
    for (let asked = 0; asked <= 2 * limit; asked += 1) {
      const answer = await ask()
      if (answer.status === 429) return assertLimited(answer, limit)
      assert.ok(Number(answer.headers.get('ratelimit-remaining')) < limit)
    }
    return assert.fail(`more than ${limit} requests a minute were let through`)
  }

  function assertLimited(answer: Answer, limit: number): Answer {
    const [stated, remaining, reset, retry] = ['limit', 'remaining', 'reset']
      .map((name) => answer.headers.get(`ratelimit-${name}`))
      .concat(answer.headers.get('retry-after'))
    assert.deepEqual([stated, remaining], [String(limit), '0'])
    assert.ok(Number(reset) >= 1 && Number(reset) <= 60)
    assert.equal(retry, reset)
    return answer
  }

  function assertError({ status, headers, body }: Answer, code: ErrorCode): void {
    assert.deepEqual([status, body.code], [ERRORS[code].status, code], JSON.stringify(body))
    assert.match(headers.get('content-type')!, /^application\/json/)
    assert.match(headers.get('x-request-id')!, /^[A-Za-z0-9._-]{1,64}$/)
    for (const name of ['limit', 'remaining', 'reset']) assert.match(headers.get(`ratelimit-${name}`)!, /^\d+$/)
    assert.deepEqual(
      Object.keys(body).filter((key) => !['code', 'message', 'details'].includes(key)),
      [],
    )
    assert.ok(typeof body.message === 'string' && body.message.length > 10)
  }

  const page = new Map<string, Promise<string>>()

  /** Follows the link of an error to its paragraph. */
  async function assertExplained(docs: string): Promise<void> {
    const [path = '', anchor] = docs.split('#')
    const text = page.get(path) ?? fetch(world.service.url + path).then((answer) => answer.text())
    page.set(path, text)
    assert.ok((await text).includes(`<h3 id="${anchor}">`), docs)
  }

  it('has a case for every code of the table', () => {
    assert.deepEqual(Object.keys(CASES).toSorted(), Object.keys(ERRORS).toSorted())
    assert.equal(Object.keys(ERRORS).length, 37)
  })

  for (const [code, reach] of Object.entries(CASES) as [ErrorCode, () => Promise<Told>][]) {
    it(code, async () => {
      const { answer, details } = await reach()
      assertError(answer, code)
      assert.equal(answer.body.details.requestId, answer.headers.get('x-request-id'))
      await assertExplained(answer.body.details.docs)
      // A detail that does not always apply says so: its text begins with "only".
      const documented = Object.entries(ERROR_DETAILS[code] ?? {})
        .filter(([, text]) => !text.startsWith('only '))
        .map(([name]) => name)
      const told = Object.keys(answer.body.details ?? {})
      assert.deepEqual(
        documented.filter((key) => !told.includes(key)),
        [],
        'details that are documented and missing',
      )
      if (typeof details === 'function') details(ownDetails(answer.body.details))
      else if (details !== undefined) assert.deepEqual(ownDetails(answer.body.details), details)
    })
  }

  it('RATE_LIMITED tells which limit: of an agent, of its writes, of an API key', async () => {
    const carol = await as('trader-4')
    const writes = await untilLimited(LIMITS['agent-writes'], () => cancel(carol, '9007199254740991'))
    assertError(writes, 'RATE_LIMITED')
    assert.deepEqual(ownDetails(writes.body.details), { scope: 'agent-writes' })
    assert.equal((await world.signed(carol, positions(carol))).status, 200, 'writes that are used up leave the reads')

    const dave = await as('trader-5')
    const reads = await untilLimited(LIMITS.agent, () => world.signed(dave, positions(dave)))
    assertError(reads, 'RATE_LIMITED')
    assert.deepEqual(ownDetails(reads.body.details), { scope: 'agent' })

    const issued = await world.send('POST', `${PATH}/api-keys`, await keyIssue(await world.domain(), dave, 'limited'))
    const headers = { 'x-service-api-key': issued.body.apiKey as string }
    const keyed = await untilLimited(LIMITS.agent, () =>
      world.get(`${PATH}/account/${dave.address}/positions`, headers),
    )
    assert.deepEqual(ownDetails(keyed.body.details), { scope: 'agent' })
  })

  it('RATE_LIMITED of one address leaves the others, and no stranger uses up the limit of an agent', async () => {
    const erin = await as('trader-3')
    const path = `${PATH}/account/${erin.address}/positions`
    const forged = await signedHeaders(await world.domain(), world.stranger(), {
      operation: 'listPositions',
      method: 'GET',
      path,
    })
    for (let asked = 0; asked <= LIMITS.agent; asked += 1) {
      const headers = { ...forged, 'x-service-agent': erin.address, 'x-forwarded-for': '203.0.113.8' }
      assert.equal((await call(world.service.url, path, { headers })).body.code, 'INVALID_SIGNATURE')
    }
    assert.equal((await world.signed(erin, positions(erin))).status, 200)
    assert.equal((await world.get('/health', { 'x-forwarded-for': '203.0.113.9' })).status, 200)
  })

  it('UNSUPPORTED is every write on a chain that is only read, and no read', async () => {
    world.node.fault = { kind: 'none' }
    const agent = await world.register({ trader: alice, agent: alice, chain: READ_ONLY_CHAIN })
    const writes: readonly SignedRequest[] = [
      { operation: 'createOrder', method: 'POST', path: '/orders', body: MARKET },
      { operation: 'updateOrder', method: 'PATCH', path: '/orders/1', body: { price: '1' } },
      { operation: 'cancelOrder', method: 'DELETE', path: '/orders/1' },
      { operation: 'submitOrder', method: 'POST', path: '/orders/1/submit', body: { txHash: `0x${'1'.repeat(64)}` } },
      { operation: 'closePosition', method: 'POST', path: '/positions/1/close', body: {} },
      { operation: 'updatePosition', method: 'PATCH', path: '/positions/1', body: { sl: '1' } },
      { operation: 'cancelPositionUpdate', method: 'DELETE', path: '/positions/1/pending-update' },
      { operation: 'cancelAllOrders', method: 'DELETE', path: '/orders' },
      { operation: 'closeAllPositions', method: 'POST', path: '/positions/close-all', body: {} },
      { operation: 'flatten', method: 'POST', path: '/flatten', body: {} },
    ]
    for (const write of writes) {
      assertError(await world.signed(agent, { ...write, chain: READ_ONLY_CHAIN }), 'UNSUPPORTED')
    }
    const read = await until('the chain is back', async () => {
      const answer = await world.signed(agent, { ...positions(alice), chain: READ_ONLY_CHAIN })
      if (answer.status !== 503 && answer.status !== 429) return answer
      await sleep(1_000)
      return undefined
    })
    assert.deepEqual([read.status, read.body], [200, { data: [] }])
  })

  it("TRADER_MISMATCH is also the answer to who claims another trader's agent without its signature", async () => {
    const agent = await foreignAgentOf(alice)
    const body = await authorization(await world.domain(), bob, agent, { withoutAgent: true })
    assertError(await world.send('POST', `${PATH}/agents`, body), 'TRADER_MISMATCH')
  })
})
