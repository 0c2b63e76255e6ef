import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { CreateOrderRequestSchema, CreateAgentRequestSchema } from '@bezel/protocol'
import { createApp } from '../http/createApp.ts'

const app = createApp('silent')
app.post('/order', { schema: { body: CreateOrderRequestSchema } }, async () => ({}))
app.post('/agent', { schema: { body: CreateAgentRequestSchema } }, async () => ({}))
after(() => app.close())

interface Refusal {
  readonly message: string
  readonly details: { readonly issues: { path: string; message: string }[] }
}

async function refusalOf(url: string, body: unknown): Promise<Refusal> {
  const headers = { 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
  assert.equal(answer.statusCode, 400, answer.body)
  return answer.json()
}

const ORDER = { market: 'BTC/USD', side: 'long', type: 'limit', size: '1', leverage: '2' }
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SCOPE = { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'read' }
const AGENT = { trader: ADDRESS, agent: ADDRESS, scope: SCOPE, timestamp: 1, signature: '0x' }
const FIELDS = 'market, side, type, size, leverage, price, collateral, sl, tp, reduceOnly, slippage, clientId'

describe('the issues of a validation', () => {
  it('name the field that is missing or not known', async () => {
    const { size: _size, ...sizeless } = ORDER
    const { details, message } = await refusalOf('/order', { ...sizeless, colour: 'red' })
    assert.deepEqual(
      details.issues.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      [
        { path: 'body.colour', message: `is not known; the fields are ${FIELDS}` },
        { path: 'body.size', message: 'is missing' },
      ],
    )
    assert.match(message, /^body\.\w+ is (?:missing|not known; the fields are .*, clientId)\.$/)
  })

  it('say in words what a number, an address or a market looks like', async () => {
    const wordsOf = async (url: string, body: object): Promise<string[]> =>
      (await refusalOf(url, body)).details.issues.map(({ path, message }) => `${path} ${message}`)
    for (const size of ['0,01', '1e3', '.5', '+1', ' 1', '']) {
      const [issue, ...others] = await wordsOf('/order', { ...ORDER, size })
      assert.match(issue!, /^body\.size must be a plain decimal such as "0\.01", with a point: no comma/, size)
      assert.deepEqual(others, [])
    }
    assert.deepEqual(await wordsOf('/order', { ...ORDER, market: 'btc-usd' }), [
      'body.market must be spelled like BTC/USD, in capitals',
    ])
    assert.deepEqual(await wordsOf('/agent', { ...AGENT, agent: '0x12', signature: 'zz' }), [
      'body.agent must be 0x and 40 hex characters',
      'body.signature must be 0x and hex characters',
    ])
  })

  it('list the texts that a field could have been', async () => {
    const { details } = await refusalOf('/order', { ...ORDER, side: 'up' })
    assert.deepEqual(details.issues, [{ path: 'body.side', message: 'must be one of "long", "short"' }])
  })

  it('say one thing of each place, at any depth', async () => {
    const scope = { ...SCOPE, maxLeverage: 5, markets: ['BTC/USD', 'btc'] }
    const { details } = await refusalOf('/agent', { ...AGENT, scope })
    const paths = details.issues.map(({ path }) => path)
    assert.deepEqual(paths, [...new Set(paths)])
    assert.ok(paths.includes('body.scope.maxLeverage'))
    assert.ok(paths.includes('body.scope.markets[1]'))
  })

  it('quote odd names, and cut long ones', async () => {
    const { details } = await refusalOf('/order', { ...ORDER, 'a/b~c': 1, ['k'.repeat(1000)]: 1 })
    assert.deepEqual(
      details.issues.map(({ path }) => path),
      ['body["a/b~c"]', `body["${'k'.repeat(40)}..."]`],
    )
  })

  it('are not more than a person reads', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`x${i}`, 1]))
    assert.equal((await refusalOf('/order', { ...ORDER, ...many })).details.issues.length, 20)
  })

  it('name the body itself when that is what is wrong', async () => {
    const { details } = await refusalOf('/order', [])
    assert.deepEqual(details.issues, [{ path: 'body', message: 'must be object' }])
  })
})

describe('a long body that is wrong everywhere', () => {
  const LONG = 64 * 1024 - 1_000

  /** Bodies of nearly 64 KB, each wrong in as many places as it has room for. */
  const bodies: readonly (readonly [name: string, url: string, body: unknown])[] = [
    ['unknown fields', '/order', { ...ORDER, ...Object.fromEntries(range(LONG / 12).map((at) => [`x${at}`, 1])) }],
    ['wrong markets', '/agent', { ...AGENT, scope: { ...SCOPE, markets: range(LONG / 4).map(() => 'b') } }],
    ['markets of other types', '/agent', { ...AGENT, scope: { ...SCOPE, markets: range(LONG / 3).map(() => []) } }],
    ['a long text', '/order', { ...ORDER, size: '9'.repeat(LONG) }],
    ['a long market', '/order', { ...ORDER, market: 'A'.repeat(LONG) }],
    ['deep nesting', '/order', JSON.parse(`{"size":${'['.repeat(30)}${']'.repeat(30)}}`)],
  ]
  const MAX_CPU_MS = 15

  for (const [name, url, body] of bodies) {
    it(`is refused cheaply: ${name}`, async () => {
      const payload = JSON.stringify(body)
      assert.ok(payload.length <= 64 * 1024, `${payload.length}`)
      const ask = () => app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload })
      for (let i = 0; i < 3; i += 1) assert.ok((await ask()).json<Refusal>().details.issues.length <= 20)
      const before = process.cpuUsage()
      const count = 10
      for (let i = 0; i < count; i += 1) assert.equal((await ask()).statusCode, 400)
      const { user, system } = process.cpuUsage(before)
      const cpuMs = (user + system) / 1_000 / count
      assert.ok(cpuMs <= MAX_CPU_MS, `${cpuMs} ms of processor time`)
    })
  }
})

function range(length: number): number[] {
  return Array.from({ length: Math.floor(length) }, (_, at) => at)
}
