import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
import { until, within } from '@bezel/testkit/until.ts'
import { parseCollection, type CollectionRequest } from '../scripts/collection/parseCollection.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const COLLECTION = new URL('../clients/http/bezel.http', import.meta.url)
const SIGNER = new URL('../clients/http/sign.mjs', import.meta.url).pathname
const NOBODY = '0x00000000000000000000000000000000000000aa'
const PREVIEWED = '?market=BTC-USD&side=long&type=market&size=0.01&leverage=10'
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
      get('getIndex', '/', 200),
      get('health', '/health', 200),
      get('ready', '/ready', 200),
      get('getTime', '/v1/time', 200),
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
    const { headers } = await check({ ...agents, body: await authorization(domain, trader, other), expected: 201 })
    await check({ ...agents, body: {}, expected: 'VALIDATION_ERROR' })
    const forged = { ...(await authorization(domain, trader, other)), trader: NOBODY }
    await check({ ...agents, body: forged, expected: 'INVALID_SIGNATURE' })
    const stranger = await authorization(domain, chain.account('trader-2'), other, { withoutAgent: true })
    await check({ ...agents, body: stranger, expected: 'TRADER_MISMATCH' })
    const found = await check(get('getAgent', headers.get('location')!, 200))
    assert.equal(found.body.agent.agent, other.address)

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
    const { body: prepared, headers } = await checkSigned({ ...orders, body: named, expected: 201 })
    await checkSigned({ ...orders, body: named, expected: 200 })
    await checkSigned({ ...orders, body: { ...named, side: 'short' }, expected: 'IDEMPOTENCY_CONFLICT' })

    const path = `${CHAIN}/orders/${prepared.order.id}`
    assert.equal(headers.get('location'), path)
    await checkSigned(get('getOrder', path, 200))
    const byKey = await checkSigned(get('getOrderByClientId', `${CHAIN}/orders?clientId=one`, 200))
    assert.equal(byKey.body.id, prepared.order.id)
    await checkSigned(get('getOrderByClientId', `${CHAIN}/orders?clientId=two`, 'ORDER_NOT_FOUND'))
    await checkSigned(get('getOrderByClientId', `${CHAIN}/orders`, 'VALIDATION_ERROR'))
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
    assert.equal((await checkSigned(get('getPosition', path, 200))).body.id, opened.fill.positionId)
    await checkSigned(get('getPosition', `${CHAIN}/positions/999999`, 'POSITION_NOT_FOUND'))
    const { positionId } = opened.fill
    const previews = `${CHAIN}/account/${trader.address}/preview`
    await checkSigned(get('previewClose', `${previews}/close/${positionId}`, 200))
    await checkSigned(get('previewPosition', `${previews}/position/${positionId}?leverage=8`, 200))
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

    const all = { operation: 'cancelAllOrders', method: 'DELETE', path: `${CHAIN}/orders` }
    await checkSigned({ ...all, path: `${CHAIN}/orders?market=NO-USD`, expected: 'MARKET_NOT_FOUND' })
    await checkSigned({ ...all, path: `${CHAIN}/orders?next=x1`, expected: 'VALIDATION_ERROR' })
    await trade(await checkSigned({ ...create, body: limit }), 'open')
    const { body: ended } = await checkSigned({ ...all, path: `${CHAIN}/orders?market=BTC-USD`, expected: 200 })
    await trade({ body: { ...ended, order: ended.orders[0] } } as Answer, 'canceled')
    await trade(await checkSigned({ ...create, body: order }), 'filled')
    const closeAll = { operation: 'closeAllPositions', method: 'POST', path: `${CHAIN}/positions/close-all` }
    await checkSigned({ ...closeAll, body: { slippage: '0' }, expected: 'VALIDATION_ERROR' })
    const { body: closed } = await checkSigned({ ...closeAll, body: { market: 'BTC/USD' }, expected: 200 })
    await trade({ body: { ...closed, order: closed.orders[0] } } as Answer, 'filled')
    const flatten = { operation: 'flatten', method: 'POST', path: `${CHAIN}/flatten` }
    await checkSigned({ ...flatten, body: { next: 'x1' }, expected: 'VALIDATION_ERROR' })
    await checkSigned({ ...flatten, expected: 200 })
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
      get('listPositions', `${account}/positions?market=BTC-USD&since=1&limit=1`, 200),
      get('listPositions', `${account}/positions?market=NO-USD`, 'MARKET_NOT_FOUND'),
      get('listOpenOrders', `${account}/orders`, 200),
      get('listOpenOrders', `${account}/orders?market=BTC-USD&status=open&since=1&limit=1`, 200),
      get('listOpenOrders', `${account}/orders?status=filled`, 'VALIDATION_ERROR'),
      get('listOrderHistory', `${account}/orders/history?limit=1`, 200),
      get('listOrderHistory', `${account}/orders/history?limit=0`, 'VALIDATION_ERROR'),
      get('listFills', `${account}/fills`, 200),
      get('listFills', `${account}/fills?cursor=nonsense`, 'VALIDATION_ERROR'),
      get('listEvents', `${account}/events?after=0&limit=10`, 200),
      get('listEvents', `${account}/events?after=-1`, 'VALIDATION_ERROR'),
      get('listAudit', `${account}/audit?limit=1`, 200),
      get('listAudit', `${account}/audit?cursor=nonsense`, 'VALIDATION_ERROR'),
      get('previewOrder', `${account}/preview/order${PREVIEWED}`, 200),
      get('previewOrder', `${account}/preview/order${PREVIEWED}&simulate=true`, 200),
      get('previewOrder', `${account}/preview/order${PREVIEWED}&sizes=1`, 'VALIDATION_ERROR'),
      get('previewClose', `${account}/preview/close/999999`, 'POSITION_NOT_FOUND'),
      get('previewPosition', `${account}/preview/position/999999?leverage=5`, 'POSITION_NOT_FOUND'),
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

  it('is true of the public reads of the request collection, as they stand there', async () => {
    const requests = collection(service.url)
    assert.deepEqual(requests.map(({ name }) => name).toSorted(), operationIds().toSorted())
    const open = requests.filter(({ name, method }) => name === 'hlInfo' || (method === 'GET' && !isSigned(name)))
    assert.ok(open.length > 10)
    for (const request of open) assert.equal((await sendRequest(request)).status, 200, request.name)
  })

  it('is true of the requests that the script beside the collection signs', async () => {
    const { privateKey } = devnet.file.accounts.find(({ name }) => name === 'trader-1')!
    const env = { ...process.env, BASE: service.url, AGENT_KEY: privateKey, TRADER_KEY: privateKey }
    const signer = spawn(process.execPath, [SIGNER], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const host = await within('the address of the signer', async () => {
        let printed = ''
        for await (const part of signer.stdout) {
          printed += String(part)
          const found = /^@host = (\S+)$/m.exec(printed)?.[1]
          if (found !== undefined) return found
        }
        throw new Error(`the signer ended: ${printed}`)
      })
      const requests = new Map(collection(host).map((request) => [request.name, request]))
      const sent = async (name: string, change: object = {}): Promise<Answer> => {
        const { body, ...request } = requests.get(name)!
        return sendRequest(body === undefined ? request : { ...request, body: changed(body, change) })
      }
      const { scope } = JSON.parse(requests.get('createAgent')!.body!)
      const authorized = await sent('createAgent', { scope: { ...scope, expiresAt: null, markets: 'all' } })
      assert.equal(authorized.status, 201, JSON.stringify(authorized.body))
      const own = { price: undefined, sl: undefined, tp: undefined, clientId: 'collection' }
      const { status, body } = await sent('createOrder', own)
      assert.equal(status, 201, JSON.stringify(body))
      assert.equal((await sent('issueApiKey')).status, 200)
      for (const [name, { method }] of requests) {
        if (method !== 'GET' || !isSigned(name)) continue
        const answer = await sent(name)
        // The ids in the file are those of another run.
        const isRight = answer.status === 200 || /^(?:ORDER|POSITION)_NOT_FOUND$/.test(answer.body.code)
        assert.ok(isRight, `${name}: ${JSON.stringify(answer.body)}`)
      }
      const elsewhere = await fetch(new URL('/health', host))
      assert.equal(elsewhere.status, 404, 'without its secret the signer does nothing')
    } finally {
      signer.kill()
    }
  })

  /** Returns the requests of the collection for the trader of this test. */
  function collection(host: string): CollectionRequest[] {
    const { address } = trader
    return parseCollection(readFileSync(COLLECTION, 'utf8'), { host, address, agent: address })
  }

  async function sendRequest({ name, url, ...init }: CollectionRequest): Promise<Answer> {
    const answer = await call('', url, init)
    checker.assert(name, answer.status, answer.body)
    return answer
  }

  function changed(body: string, change: object): string {
    return JSON.stringify({ ...JSON.parse(body), ...change })
  }

  function operationIds(): string[] {
    return Object.values(document.paths).flatMap((path) => Object.values(path).map((of) => of.operationId))
  }

  function isSigned(operationId: string): boolean {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    return operations.find((of) => of.operationId === operationId)!.security !== undefined
  }

  it('names no operation that was not asked here', () => {
    const all = operationIds()
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
    for (const role of ['follower', 'keeper']) {
      assert.match(metrics, new RegExp(`^bezel_lease_held\\{chain="arbitrum-sepolia",role="${role}"\\} 1$`, 'm'))
    }
    assert.match(metrics, /^bezel_nonces_remembered [1-9]\d*$/m)
    const forwarded = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '127.0.0.1' } })
    assert.equal(forwarded.status, 404)
  })
})
