import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authorization, call, keyIssue, revocation, signedHeaders } from '@bezel/testkit/agentClient.ts'
import { BAD_NUMBERS, brokenBodies } from './badInput/badBodies.ts'
import { answersIn, exchange, rawRequest, type RawAnswer } from './badInput/rawHttp.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const ORDER = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.02', leverage: '10', price: '50000' }
const JSON_TYPE = { 'content-type': 'application/json' }

interface Target {
  readonly method: string
  /** The path, with the chain. */
  readonly path: string
  /** The name of an operation that an agent signs. */
  readonly operation?: string
  readonly fields: Record<string, unknown>
  /** True when all fields may be left out. */
  readonly isOptional?: boolean
}

describe('bad input', () => {
  let world: TradingWorld
  let client: TradingClient
  let agent: PrivateKeyAccount
  let domain: SigningDomain
  let targets: Target[]

  before(async () => {
    world = await startTradingWorld()
    client = await world.clientOf('trader-1', 'agent-1')
    agent = client.agent
    domain = (await call(world.url(), CHAIN)).body.signing.domain
    const stranger = world.chain.account('agent-2')
    targets = [
      { operation: 'createOrder', method: 'POST', path: `${CHAIN}/orders`, fields: ORDER },
      {
        operation: 'updateOrder',
        method: 'PATCH',
        path: `${CHAIN}/orders/1`,
        fields: { price: '1' },
        isOptional: true,
      },
      {
        operation: 'submitOrder',
        method: 'POST',
        path: `${CHAIN}/orders/1/submit`,
        fields: { txHash: `0x${'1'.repeat(64)}` },
      },
      {
        operation: 'closePosition',
        method: 'POST',
        path: `${CHAIN}/positions/1/close`,
        fields: { size: '1' },
        isOptional: true,
      },
      {
        operation: 'updatePosition',
        method: 'PATCH',
        path: `${CHAIN}/positions/1`,
        fields: { sl: '1' },
        isOptional: true,
      },
      { method: 'POST', path: `${CHAIN}/agents`, fields: await authorization(domain, client.trader, stranger) },
      { method: 'POST', path: `${CHAIN}/api-keys`, fields: await keyIssue(domain, client.trader, 'key') },
      {
        method: 'DELETE',
        path: `${CHAIN}/agents/${agent.address}`,
        fields: await revocation(domain, client.trader, agent.address),
      },
    ]
  })
  after(() => world?.stop())

  /** Sends a body with a valid agent's signature, so that only the body is wrong. */
  async function sendBody(
    { method, path, operation }: Target,
    body: string | Uint8Array,
    headers: Record<string, string> = JSON_TYPE,
  ): Promise<RawAnswer> {
    const signature =
      operation === undefined ? {} : await signedHeaders(domain, agent, { operation, method, path, body })
    return rawRequest(world.url(), { method, path, body, headers: { ...signature, ...headers } })
  }

  function assertError({ status, headers, text }: RawAnswer, expected: number, code: string, what: string): void {
    assert.equal(status, expected, `${what}: ${text.slice(0, 300)}`)
    assert.match(headers.get('content-type') ?? '', /^application\/json/, what)
    assert.match(headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,64}$/, what)
    const body = JSON.parse(text) as Record<string, unknown>
    assert.equal(body.code, code, `${what}: ${text.slice(0, 300)}`)
    assert.equal(typeof body.message, 'string', what)
    assert.ok(text.length < 8_000, `${what}: the answer repeats what was sent`)
  }

  const assertInvalid = (answer: RawAnswer, what: string): void => assertError(answer, 400, 'VALIDATION_ERROR', what)

  /** Asserts that nothing was prepared, registered, revoked or issued, and that the service still answers. */
  async function assertUnchanged(): Promise<void> {
    const history = await client.account('/orders/history', 'listOrderHistory')
    assert.deepEqual([history.status, history.body], [200, { data: [], nextCursor: null }])
    const agents = await call(world.url(), `${CHAIN}/agents/${agent.address}`)
    assert.deepEqual([agents.body.agent.status, agents.body.agent.trader], ['active', client.trader.address])
    const stranger = await call(world.url(), `${CHAIN}/agents/${world.chain.account('agent-2').address}`)
    assert.equal(stranger.body.code, 'AGENT_NOT_FOUND')
    assert.equal((await call(world.url(), '/ready')).status, 200)
  }

  it('in bodies: what two programs could read differently, and what is no order', async () => {
    for (const target of targets) {
      for (const [what, body] of Object.entries(brokenBodies(target.fields))) {
        if (target.isOptional === true && what === 'a field too few') continue
        assertInvalid(await sendBody(target, body), `${target.method} ${target.path}: ${what}`)
      }
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    await assertUnchanged()
  })

  it('in decimals: numbers, other spellings, and more digits than anybody needs', async () => {
    const [create] = targets
    for (const field of ['size', 'leverage', 'price', 'sl', 'tp', 'slippage']) {
      for (const json of BAD_NUMBERS) {
        // Zero is valid here: it means no stop loss and no take profit.
        if (['sl', 'tp'].includes(field) && ['"0"', '"0.0"'].includes(json)) continue
        const { [field]: _replaced, ...rest } = ORDER as Record<string, unknown>
        const body = `${JSON.stringify(rest).slice(0, -1)},"${field}":${json}}`
        assertInvalid(await sendBody(create!, body), `${field}: ${json.slice(0, 50)}`)
      }
    }
    await assertUnchanged()
  })

  it('in fields that are words', async () => {
    const [create] = targets
    const wrong: Record<string, readonly unknown[]> = {
      market: [
        '',
        'BTC',
        'btc/usd',
        'BTC-USD',
        'BTC/USD ',
        '../BTC/USD',
        'BTC/USD\n',
        'B'.repeat(16) + '/USD',
        7,
        null,
      ],
      side: ['', 'LONG', 'buy', 0, true, ['long']],
      type: ['', 'Market', 'limit ', 'stop_limit', 1, {}],
      collateral: ['', 'X'.repeat(33), 7, null],
      reduceOnly: ['true', 1, 0, null],
      clientId: ['', 'x'.repeat(65), 7, null, {}],
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const body = JSON.stringify({ ...ORDER, [field]: value })
        assertInvalid(await sendBody(create!, body), `${field}: ${JSON.stringify(value)}`)
      }
    }
    await assertUnchanged()
  })

  it('in content types and encodings', async () => {
    for (const target of targets) {
      const good = JSON.stringify(target.fields)
      const types = [
        'text/plain',
        'application/xml',
        'multipart/form-data; boundary=x',
        'application/jsonx',
        'nonsense',
        '',
        ',',
      ]
      for (const type of types) {
        assertInvalid(await sendBody(target, good, { 'content-type': type }), `${target.path} as ${type}`)
      }
      assertInvalid(await sendBody(target, good, {}), `${target.path} without a type`)
      const zipped = { ...JSON_TYPE, 'content-encoding': 'gzip' }
      assertInvalid(await sendBody(target, Buffer.from([0x1f, 0x8b, 8, 0]), zipped), `${target.path} zipped`)
    }
    await assertUnchanged()
  })

  it('in paths', async () => {
    const long = 'a'.repeat(6_000)
    const paths: readonly [string, number, string][] = [
      ['/.', 404, 'NOT_FOUND'],
      ['//', 404, 'NOT_FOUND'],
      ['/v1', 404, 'NOT_FOUND'],
      ['/v1/', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/%00', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/__proto__', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/constructor/markets', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/ARBITRUM-SEPOLIA', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/arbitrum-sepolia%20', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/%F0%9F%A6%84', 404, 'CHAIN_NOT_FOUND'],
      ['/v1/%', 400, 'VALIDATION_ERROR'],
      ['/v1/%zz', 400, 'VALIDATION_ERROR'],
      ['/v1/%c0%af', 400, 'VALIDATION_ERROR'],
      ['/v1/%ff', 400, 'VALIDATION_ERROR'],
      [`/v1/${long}`, 400, 'VALIDATION_ERROR'],
      [`/${long}`, 404, 'NOT_FOUND'],
      [`/${long}${long}`, 400, 'VALIDATION_ERROR'],
      [`${CHAIN}/markets/${long}`, 400, 'VALIDATION_ERROR'],
      ['/v1/../etc/passwd', 404, 'NOT_FOUND'],
      ['/../../../../etc/passwd', 404, 'NOT_FOUND'],
      ['/v1/..%2f..%2fetc%2fpasswd', 404, 'CHAIN_NOT_FOUND'],
      [`${CHAIN}/markets/..`, 404, 'MARKET_NOT_FOUND'],
      [`${CHAIN}/markets/%00`, 404, 'MARKET_NOT_FOUND'],
      [`${CHAIN}/markets/BTC%2FUSD%00`, 404, 'MARKET_NOT_FOUND'],
      [`${CHAIN}/markets/__proto__`, 404, 'MARKET_NOT_FOUND'],
      [`${CHAIN}/markets/BTC/USD`, 404, 'NOT_FOUND'],
      [`${CHAIN}/agents/0x12`, 400, 'VALIDATION_ERROR'],
      [`${CHAIN}/agents/%00`, 400, 'VALIDATION_ERROR'],
      [`${CHAIN}/orders/1`, 401, 'UNAUTHENTICATED'],
      [`${CHAIN}/account/nobody/positions`, 401, 'UNAUTHENTICATED'],
      ['/health?'.padEnd(7_000, 'x'), 200, ''],
      ['*', 200, ''],
      ['http://example.com/health', 200, ''],
    ]
    for (const [path, status, code] of paths) {
      const answer = await rawRequest(world.url(), { method: 'GET', path })
      if (status === 200) assert.equal(answer.status, 200, path)
      else assertError(answer, status, code, path.slice(0, 60))
    }
    await assertUnchanged()
  })

  it('in paths and queries that an agent signed', async () => {
    const get = async (operation: string, path: string): Promise<RawAnswer> => {
      const headers = await signedHeaders(domain, agent, { operation, method: 'GET', path })
      return rawRequest(world.url(), { method: 'GET', path, headers })
    }
    for (const id of [
      '0',
      '01',
      '-1',
      '1.0',
      '1e3',
      'x',
      '%00',
      '99999999999999999',
      '%20',
      '__proto__',
      '1'.repeat(90),
    ]) {
      assertError(await get('getOrder', `${CHAIN}/orders/${id}`), 404, 'ORDER_NOT_FOUND', id)
      const path = `${CHAIN}/orders/${id}`
      const headers = await signedHeaders(domain, agent, { operation: 'cancelOrder', method: 'DELETE', path })
      assertError(await rawRequest(world.url(), { method: 'DELETE', path, headers }), 404, 'ORDER_NOT_FOUND', id)
    }
    const own = `${CHAIN}/account/${client.trader.address}`
    const queries = [
      'limit=0',
      'limit=501',
      'limit=1e2',
      'limit=',
      'limit=1&limit=2',
      'limit[]=1',
      'cursor=',
      'cursor=%00',
    ]
    queries.push(
      'cursor=bzE=',
      'cursor=bzE%3D',
      `cursor=${'A'.repeat(500)}`,
      'colour=red',
      '__proto__=1',
      'limit=%ff',
      'constructor=1',
    )
    for (const query of queries) {
      assertInvalid(await get('listOrderHistory', `${own}/orders/history?${query}`), query)
      assertInvalid(await get('listFills', `${own}/fills?${query}`), query)
    }
    for (const address of ['0x', '0x12', `${client.trader.address}00`, '%00', 'vitalik.eth']) {
      assertInvalid(await get('listPositions', `${CHAIN}/account/${address}/positions`), address)
    }
    const other = await get('listPositions', `${CHAIN}/account/${agent.address}/positions`)
    assertError(other, 403, 'TRADER_MISMATCH', 'another account')
    await assertUnchanged()
  })

  it('in methods', async () => {
    const known = ['PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'LINK']
    for (const method of known) {
      assertError(await rawRequest(world.url(), { method, path: `${CHAIN}/markets` }), 404, 'NOT_FOUND', method)
    }
    for (const method of ['FOO', 'get', 'GET\x01', 'POSTT', '']) {
      assertInvalid(await rawRequest(world.url(), { method, path: '/health' }), method)
    }
    assert.equal((await rawRequest(world.url(), { method: 'HEAD', path: '/nope' })).status, 404)
    await assertUnchanged()
  })

  it('in headers of signatures', async () => {
    const path = `${CHAIN}/orders`
    const body = JSON.stringify(ORDER)
    const good = await signedHeaders(domain, agent, { operation: 'createOrder', method: 'POST', path, body })
    const wrong: Record<string, readonly string[]> = {
      'x-service-agent': ['', '0x', 'me', `${agent.address}0`, `${agent.address}, ${agent.address}`],
      'x-service-timestamp': ['', '-1', '1.5', '1e12', 'now', '0x10', '9'.repeat(400), '01'],
      'x-service-nonce': ['', '-1', '1.5', '1e3', '0x10', '01', '9'.repeat(79), 'é'],
      'x-service-signature': [
        '',
        '0x',
        '0x12',
        good['x-service-signature']!.slice(2),
        `${good['x-service-signature']}00`,
      ],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const headers = { ...JSON_TYPE, ...good, [name]: value }
        assertInvalid(await rawRequest(world.url(), { method: 'POST', path, headers, body }), `${name}: ${value}`)
      }
    }
    const huge = { ...JSON_TYPE, ...good, 'x-service-nonce': String(2n ** 256n) }
    const beyond = await rawRequest(world.url(), { method: 'POST', path, headers: huge, body })
    assertError(beyond, 401, 'INVALID_SIGNATURE', 'a nonce beyond uint256')
    await assertUnchanged()
  })

  it('in the protocol itself', async () => {
    const { host } = new URL(world.url())
    const head = `POST ${CHAIN}/orders HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`
    const garbage: Readonly<Record<string, string | Uint8Array>> = {
      text: 'hello\r\n\r\n',
      'a protocol to come': 'GET / HTTP/9.9\r\n\r\n',
      'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'a TLS hello': Buffer.from('16030100c8010000c40303', 'hex'),
      zeros: Buffer.alloc(1_000),
      'two lengths': `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`,
      'a length that is none': `${head}content-length: two\r\n\r\n{}`,
      'a negative length': `${head}content-length: -2\r\n\r\n{}`,
      'a length beyond every number': `${head}content-length: 99999999999999999999\r\n\r\n{}`,
      'a length and chunks': `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      'chunks that are none': `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      'an unknown transfer': `${head}transfer-encoding: gzip\r\n\r\n{}`,
      'a NUL in a header': 'GET /health HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n',
      'a folded header': 'GET /health HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n',
      'a header without a name': 'GET /health HTTP/1.1\r\nhost: x\r\n: b\r\n\r\n',
      'a space before the colon': 'GET /health HTTP/1.1\r\nhost: x\r\na : b\r\n\r\n',
      'headers without end': `GET /health HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(10_000)}`,
      'one header without end': `GET /health HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(100_000)}`,
      'a path with spaces': 'GET /he alth HTTP/1.1\r\nhost: x\r\n\r\n',
      'a path in raw bytes': Buffer.from('GET /\xff\xfe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'latin1'),
    }
    for (const [what, bytes] of Object.entries(garbage)) {
      const answers = answersIn(await exchange(world.url(), bytes))
      assert.equal(answers.length, 1, what)
      if (what === 'a path in raw bytes') assert.ok([400, 404].includes(answers[0]!.status), what)
      else assertInvalid(answers[0]!, what)
    }
    await assertUnchanged()
  })

  it('behind a good request: the good one is answered, the other refused', async () => {
    const bytes = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\nthis is no request\r\n\r\n'
    const [good, bad] = answersIn(await exchange(world.url(), bytes))
    assert.equal(good?.status, 200)
    assertInvalid(bad!, 'the second')
  })

  it('that stops in the middle is forgotten', async () => {
    for (const target of targets) {
      const { method, path, operation } = target
      const body = JSON.stringify(target.fields)
      const signature =
        operation === undefined ? {} : await signedHeaders(domain, agent, { operation, method, path, body })
      const headers = { host: 'x', ...JSON_TYPE, ...signature, 'content-length': String(body.length) }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const whole = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
      for (const cut of [20, whole.length - body.length, whole.length - 1]) {
        await exchange(world.url(), whole.slice(0, cut), { isCut: true })
      }
    }
    await assertUnchanged()
  })
})
