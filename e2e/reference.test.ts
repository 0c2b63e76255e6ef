import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol'
import { createWalletClient, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createAnswerChecker, type AnswerChecker } from '../packages/server/src/docs/openapi/answerChecker.ts'
import type { OpenapiDocument } from '../packages/server/src/docs/openapi/openapiDocument.ts'
import { authorization, call, keyIssue, revocation, signedHeaders, type Answer } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { until } from '@bezel/testkit/until.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const NOBODY = '0x00000000000000000000000000000000000000aa'
const RECLAIM = { operation: 'cancelPositionUpdate', method: 'DELETE' }

/** A request with its expected answer: a status, or the code of a refusal. */
interface Step {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly expected: number | string
}

describe('the reference', () => {
  let devnet: RunningDevnet
  let service: RunningService
  let chain: ChainClient
  let domain: SigningDomain
  let document: OpenapiDocument
  let checker: AnswerChecker
  /** A trader that is its own agent. */
  let trader: PrivateKeyAccount
  const answered = new Set<string>()

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100' })
    service = await startService(devnet, { BEZEL_AGENT_WRITE_LIMIT: '1000', BEZEL_IP_LIMIT: '10000' })
    chain = createChainClient(devnet.file)
    trader = chain.account('trader-1')
    domain = (await call(service.url, CHAIN)).body.signing.domain
    document = (await call(service.url, '/openapi.json')).body
    checker = createAnswerChecker(document)
  })
  after(async () => {
    await service.stop()
    await devnet.stop()
  })

  /** Sends a request and checks the answer against the reference. */
  async function check({ operation, method, path, body, expected }: Step, headers = {}): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { ...json, ...headers } }
    const answer = await call(service.url, path, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const found = typeof expected === 'number' ? answer.status : answer.body.code
    assert.equal(found, expected, `${operation} ${path}: ${JSON.stringify(answer.body)}`)
    checker.assert(operation, answer.status, answer.body)
    answered.add(operation)
    return answer
  }

  async function checkSigned(step: Step): Promise<Answer> {
    const { operation, method, path, body } = step
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return check(step, await signedHeaders(domain, trader, { operation, method, path, ...text }))
  }

  const get = (operation: string, path: string, expected: number | string): Step => ({
    operation,
    method: 'GET',
    path,
    expected,
  })

  /** Returns an exchange request with the signature of an unknown key: its refusal is an answer too. */
  const exchange = (action: object, expected: number): Step => ({
    operation: 'hlExchange',
    method: 'POST',
    path: '/hl/arbitrum-sepolia/exchange',
    body: { action, nonce: Date.now(), signature: { r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}`, v: 27 } },
    expected,
  })

  it('is true of public reads', async () => {
    const market = `${CHAIN}/markets/BTC-USD`
    for (const step of [
      get('health', '/health', 200),
      get('ready', '/ready', 200),
      get('getChainInfo', CHAIN, 200),
      get('getChainInfo', '/v1/mars', 'CHAIN_NOT_FOUND'),
      get('listMarkets', `${CHAIN}/markets`, 200),
      get('getMarket', market, 200),
      get('getMarket', `${CHAIN}/markets/NO-USD`, 'MARKET_NOT_FOUND'),
      get('getFunding', `${market}/funding`, 200),
      get('getPrices', `${CHAIN}/prices`, 200),
      get('getOrderBook', `${market}/book?levels=30`, 200),
      get('getOrderBook', `${market}/book?levels=31`, 'VALIDATION_ERROR'),
      get('getCandles', `${market}/candles?interval=1m`, 200),
      get('getCandles', `${market}/candles?interval=2m`, 'VALIDATION_ERROR'),
      get('getRecentTrades', `${market}/trades`, 200),
      get('getRecentTrades', `${CHAIN}/markets/NO-USD/trades`, 'MARKET_NOT_FOUND'),
      { operation: 'hlInfo', method: 'POST', path: '/hl/arbitrum-sepolia/info', body: { type: 'meta' }, expected: 200 },
      exchange({ type: 'noop' }, 200),
      exchange({ type: 'withdraw3' }, 200),
      exchange({ type: 'cancel', cancels: [{ a: 0, o: 1 }] }, 200),
      get('getAgent', `${CHAIN}/agents/${NOBODY}`, 'AGENT_NOT_FOUND'),
      get('getAgent', `${CHAIN}/agents/somebody`, 'VALIDATION_ERROR'),
    ]) {
      await check(step)
    }
  })

  it('is true of agents and keys', async () => {
    const agents = { operation: 'createAgent', method: 'POST', path: `${CHAIN}/agents` }
    const other = chain.account('agent-2')
    await check({ ...agents, body: await authorization(domain, trader, trader), expected: 201 })
    await check({ ...agents, body: await authorization(domain, trader, other), expected: 201 })
    await check({ ...agents, body: {}, expected: 'VALIDATION_ERROR' })
    const forged = { ...(await authorization(domain, trader, other)), trader: NOBODY }
    await check({ ...agents, body: forged, expected: 'INVALID_SIGNATURE' })
    const stranger = await authorization(domain, chain.account('trader-2'), other, { withoutAgent: true })
    await check({ ...agents, body: stranger, expected: 'TRADER_MISMATCH' })
    await check(get('getAgent', `${CHAIN}/agents/${other.address}`, 200))

    const revoke = { operation: 'revokeAgent', method: 'DELETE', path: `${CHAIN}/agents/${other.address}` }
    const revoked = await revocation(domain, trader, other.address)
    await check({ ...revoke, body: revoked, expected: 200 })
    await check({ ...revoke, body: revoked, expected: 'NONCE_REUSED' })

    const keys = { operation: 'issueApiKey', method: 'POST', path: `${CHAIN}/api-keys` }
    const issued = await check({ ...keys, body: await keyIssue(domain, trader, 'page'), expected: 200 })
    const withKey = { 'x-service-api-key': issued.body.apiKey }
    await check(get('getAccount', `${CHAIN}/account/${trader.address}`, 200), withKey)
    await check(get('getAccount', `${CHAIN}/account/${trader.address}`, 'UNAUTHENTICATED'))
    const unknown = { 'x-service-api-key': `bz_${'A'.repeat(43)}` }
    await check(get('getAccount', `${CHAIN}/account/${trader.address}`, 'API_KEY_UNKNOWN'), unknown)
    await checkSigned(get('listApiKeys', `${CHAIN}/api-keys`, 200))
    const endKey = { operation: 'revokeApiKey', method: 'DELETE', path: `${CHAIN}/api-keys/page` }
    await checkSigned({ ...endKey, expected: 200 })
    await check(get('getAccount', `${CHAIN}/account/${trader.address}`, 'API_KEY_UNKNOWN'), withKey)
    await checkSigned(get('listAudit', `${CHAIN}/account/${trader.address}/audit`, 200))
  })

  it('is true of orders and positions', async () => {
    const orders = { operation: 'createOrder', method: 'POST', path: `${CHAIN}/orders` }
    const order = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
    const refusals: readonly (readonly [object, string])[] = [
      [{ market: 'NO/USD' }, 'MARKET_NOT_FOUND'],
      [{ size: '-1' }, 'VALIDATION_ERROR'],
      [{ colour: 'red' }, 'VALIDATION_ERROR'],
      [{ size: '0.0100000001' }, 'PRECISION_ERROR'],
      [{ size: '0.00001' }, 'SIZE_BELOW_MINIMUM'],
      [{ leverage: '1000' }, 'LEVERAGE_OUT_OF_RANGE'],
      [{ collateral: 'NONE' }, 'COLLATERAL_NOT_SUPPORTED'],
      [{ reduceOnly: true }, 'POSITION_NOT_FOUND'],
      [{ reduceOnly: true, type: 'limit', price: '50000' }, 'UNSUPPORTED'],
      [{ size: '1000' }, 'SIMULATION_REVERTED'],
    ]
    for (const [change, expected] of refusals) await checkSigned({ ...orders, body: { ...order, ...change }, expected })

    const named = { ...order, clientId: 'one' }
    const { body: prepared } = await checkSigned({ ...orders, body: named, expected: 201 })
    await checkSigned({ ...orders, body: named, expected: 200 })
    await checkSigned({ ...orders, body: { ...named, side: 'short' }, expected: 'IDEMPOTENCY_CONFLICT' })

    const path = `${CHAIN}/orders/${prepared.order.id}`
    await checkSigned(get('getOrder', path, 200))
    await checkSigned(get('getOrder', `${CHAIN}/orders/999999`, 'ORDER_NOT_FOUND'))
    const update = { operation: 'updateOrder', method: 'PATCH', path }
    await checkSigned({ ...update, body: { price: '50000' }, expected: 'ORDER_NOT_MODIFIABLE' })
    await checkSigned({ ...update, body: {}, expected: 'VALIDATION_ERROR' })
    const submit = { operation: 'submitOrder', method: 'POST', path: `${path}/submit` }
    await checkSigned({ ...submit, body: { txHash: '0x12' }, expected: 'VALIDATION_ERROR' })
    await checkSigned({ operation: 'cancelOrder', method: 'DELETE', path, expected: 200 })
    await checkSigned({ operation: 'cancelOrder', method: 'DELETE', path, expected: 'ORDER_NOT_MODIFIABLE' })

    const close = { operation: 'closePosition', method: 'POST', path: `${CHAIN}/positions/999999/close` }
    await checkSigned({ ...close, expected: 'POSITION_NOT_FOUND' })
    const change = { operation: 'updatePosition', method: 'PATCH', path: `${CHAIN}/positions/999999` }
    await checkSigned({ ...change, body: { sl: '1' }, expected: 'POSITION_NOT_FOUND' })
    const gone = `${CHAIN}/positions/999999/pending-update`
    await checkSigned({ ...RECLAIM, path: gone, expected: 'POSITION_NOT_FOUND' })
  })

  it('is true of a trade from order to close, and of a resting order', async () => {
    const order = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' }
    const create = { operation: 'createOrder', method: 'POST', path: `${CHAIN}/orders`, expected: 201 }
    const opened = await trade(await checkSigned({ ...create, body: order }), 'filled')
    const path = `${CHAIN}/positions/${opened.fill.positionId}`
    const listed = await checkSigned(get('listPositions', `${CHAIN}/account/${trader.address}/positions`, 200))
    assert.equal(listed.body.data[0].id, opened.fill.positionId)
    const change = { operation: 'updatePosition', method: 'PATCH', path, expected: 200 }
    await checkSigned({ ...change, body: { leverage: '8' } })
    await checkSigned({ ...change, body: { collateral: { action: 'add', amount: '5' } } })
    await checkSigned({ ...change, body: { leverage: '8', sl: '1' }, expected: 'VALIDATION_ERROR' })
    await checkSigned({ ...change, body: { leverage: '9999' }, expected: 'LEVERAGE_OUT_OF_RANGE' })
    await checkSigned({ ...RECLAIM, path: `${path}/pending-update`, expected: 'ORDER_NOT_MODIFIABLE' })
    const close = { operation: 'closePosition', method: 'POST', path: `${path}/close` }
    await checkSigned({ ...close, body: { size: '9' }, expected: 'UNSUPPORTED' })
    await trade(await checkSigned({ ...close, expected: 200 }), 'filled')

    const limit = { ...order, type: 'limit', price: '1000', size: '1' }
    const resting = await trade(await checkSigned({ ...create, body: limit }), 'open')
    const at = { path: `${CHAIN}/orders/${resting.id}`, expected: 200 }
    await checkSigned({ ...at, operation: 'updateOrder', method: 'PATCH', body: { price: '1001' } })
    await checkSigned({ ...at, operation: 'updateOrder', method: 'PATCH', body: { size: '1.5' } })
    const canceled = await checkSigned({ ...at, operation: 'cancelOrder', method: 'DELETE' })
    await trade(canceled, 'canceled')
  })

  /** Sends the prepared transaction, reports it, and reads the order until it has the status. */
  async function trade({ body: { order, transaction } }: Answer, status: string) {
    const { rpcUrl } = devnet.file.chains['arbitrum-sepolia']!
    const wallet = createWalletClient({ account: trader, transport: http(rpcUrl) })
    const txHash = await wallet.sendTransaction({ to: transaction.to, data: transaction.data, chain: null })
    const path = `${CHAIN}/orders/${order.id}`
    const report = { operation: 'submitOrder', method: 'POST', path: `${path}/submit`, expected: 200 }
    await checkSigned({ ...report, body: { txHash } })
    return until(`the order is ${status}`, async () => {
      const { body } = await checkSigned(get('getOrder', path, 200))
      return body.status === status ? body : undefined
    })
  }

  it('is true of the lists of an account', async () => {
    const account = `${CHAIN}/account/${trader.address}`
    for (const step of [
      get('getAccount', account, 200),
      get('listPositions', `${account}/positions`, 200),
      get('listOpenOrders', `${account}/orders`, 200),
      get('listOrderHistory', `${account}/orders/history?limit=1`, 200),
      get('listOrderHistory', `${account}/orders/history?limit=0`, 'VALIDATION_ERROR'),
      get('listFills', `${account}/fills`, 200),
      get('listFills', `${account}/fills?cursor=nonsense`, 'VALIDATION_ERROR'),
      get('listEvents', `${account}/events?after=0&limit=10`, 200),
      get('listEvents', `${account}/events?after=-1`, 'VALIDATION_ERROR'),
      get('listAudit', `${account}/audit?limit=1`, 200),
      get('listAudit', `${account}/audit?cursor=nonsense`, 'VALIDATION_ERROR'),
      get('listPositions', `${CHAIN}/account/${NOBODY}/positions`, 'TRADER_MISMATCH'),
    ]) {
      await checkSigned(step)
    }
  })

  it('is true of notifications', async () => {
    const path = `/api/notifications/${trader.address}`
    await check(get('listNotifications', path, 200))
    await check(get('listNotifications', '/api/notifications/somebody', 400))
    const dismiss = { operation: 'dismissNotification', method: 'POST', path: `${path}/dismiss` }
    await check({ ...dismiss, body: { notificationId: 1 }, expected: 401 })
    await checkSigned({ ...dismiss, body: { notificationId: 999_999 }, expected: 400 })
  })

  it('names no operation that was not asked here', () => {
    const all = Object.values(document.paths).flatMap((path) => Object.values(path).map((of) => String(of.operationId)))
    assert.deepEqual(
      all.filter((operation) => !answered.has(operation)),
      [],
    )
  })

  it('lets pages of other origins ask, and this machine alone see the metrics', async () => {
    const preflight = await fetch(`${service.url}${CHAIN}/orders`, {
      method: 'OPTIONS',
      headers: { origin: 'https://somewhere.example', 'access-control-request-method': 'POST' },
    })
    assert.equal(preflight.status, 204)
    assert.match(String(preflight.headers.get('access-control-allow-headers')), /X-Service-Signature/)
    assert.ok(preflight.headers.has('ratelimit-remaining'))

    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    assert.match(metrics, /^bezel_http_requests_total\{operation="createOrder",status="4xx"\} \d+$/m)
    assert.match(metrics, /^bezel_chain_ready\{chain="arbitrum-sepolia"\} 1$/m)
    assert.match(metrics, /^bezel_orders\{status="expired"\} 1$/m)
    assert.match(metrics, /^bezel_nonces_remembered [1-9]\d*$/m)
    const forwarded = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '127.0.0.1' } })
    assert.equal(forwarded.status, 404)
  })
})
