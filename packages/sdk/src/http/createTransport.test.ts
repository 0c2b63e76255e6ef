import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { BezelApiError, BezelNetworkError } from '../errors/serviceErrors.ts'
import { createHeaders } from './createHeaders.ts'
import { createTransport, type ApiCall, type RetryPolicy, type Transport, retryDelayMs } from './createTransport.ts'

type Reply = (response: ServerResponse, request: IncomingMessage) => void

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const refused = (status: number, code: string, headers?: Record<string, string>): Reply =>
  json(status, { code, message: 'No.' }, headers)

const hangUp: Reply = (response) => void response.destroy()

const ok = json(200, { fine: true })

const TRADER = `0x${'22'.repeat(20)}`

describe('the transport, over a real socket', () => {
  let server: Server
  let transport: Transport
  let replies: Reply[] = []
  const requests: IncomingMessage[] = []
  const agent = privateKeyToAccount(generatePrivateKey())
  const domain = { name: 'Test', version: '1', chainId: 1, verifyingContract: `0x${'11'.repeat(20)}` } as const

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request)
      const reply = replies.length > 1 ? replies.shift()! : replies[0]!
      reply(response, request)
    })
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    transport = transportTo(2)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    requests.length = 0
  })

  const transportTo = (maxRetries: number, timeoutMs = 2_000): Transport =>
    createTransport({
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      fetch: globalThis.fetch,
      timeoutMs,
      maxRetries,
      now: Date.now,
      headerPrefix: 'x-test-',
      headersOf: createHeaders({
        agent,
        apiKey: undefined,
        headerPrefix: 'X-Test-',
        domain: async () => domain,
        trader: () => TRADER,
      }),
    })
  const call = (retry: RetryPolicy, more: Partial<ApiCall> = {}): Promise<unknown> =>
    transport.call({
      operationId: 'getOrder',
      method: retry === 'read' ? 'GET' : 'POST',
      path: '/v1/x',
      auth: 'agent',
      retry,
      ...more,
    })

  /** Counts how often each policy asks a service that always gives this reply. */
  async function triesOf(reply: Reply): Promise<Record<string, number>> {
    replies = [reply]
    const tries: Record<string, number> = {}
    for (const rule of ['read', 'idempotent', 'answered', 'never'] as const) {
      requests.length = 0
      await assert.rejects(call(rule))
      tries[rule] = requests.length
    }
    return tries
  }

  it('repeats what the interface calls safe, and nothing else', async () => {
    const all = { read: 3, idempotent: 3, answered: 3, never: 1 }
    assert.deepEqual(await triesOf(refused(503, 'NOT_READY')), all)
    assert.deepEqual(await triesOf(refused(502, 'UPSTREAM_UNAVAILABLE')), all)
    assert.deepEqual(await triesOf(hangUp), { read: 3, idempotent: 3, answered: 1, never: 1 })
    const none = { read: 1, idempotent: 1, answered: 1, never: 1 }
    assert.deepEqual(await triesOf(refused(500, 'INTERNAL')), none)
    assert.deepEqual(await triesOf(refused(503, 'CHAIN_READ_ONLY')), none)
    assert.deepEqual(await triesOf(refused(409, 'ORDER_NOT_MODIFIABLE')), none)
  })

  it('signs each try anew', async () => {
    replies = [hangUp, refused(503, 'NOT_READY'), ok]
    assert.deepEqual(await call('idempotent', { body: { size: '1' } }), { fine: true })
    const nonces = requests.map(({ headers }) => BigInt(String(headers['x-test-nonce'])))
    assert.equal(nonces.length, 3)
    assert.ok(nonces[0]! < nonces[1]! && nonces[1]! < nonces[2]!)
    assert.equal(new Set(requests.map(({ headers }) => headers['x-test-signature'])).size, 3)
    assert.deepEqual(new Set(requests.map(({ headers }) => headers['x-test-trader'])), new Set([TRADER]))
  })

  it('waits as long as the service asks for', async () => {
    replies = [refused(429, 'RATE_LIMITED', { 'retry-after': '1' }), ok]
    const startMs = performance.now()
    await call('read')
    assert.ok(performance.now() - startMs >= 990)
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5].map((attempt) => retryDelayMs(attempt)),
      [250, 500, 1000, 2000, 4000, 4000],
    )
    assert.equal(retryDelayMs(0, 7_000), 7_000)
    replies = [refused(429, 'RATE_LIMITED', { 'retry-after': '3600' })]
    await assert.rejects(call('read'), { code: 'RATE_LIMITED', retryable: true })
  })

  it('tells refusals with everything the service said', async () => {
    const details = { field: 'price', maxDecimals: 2, requestId: 'abc', docs: '/docs/errors#precision_error' }
    replies = [json(422, { code: 'PRECISION_ERROR', message: 'Too many.', details }, { 'x-request-id': 'abc' })]
    await assert.rejects(call('read'), (error) => {
      assert.ok(error instanceof BezelApiError)
      assert.deepEqual(
        [error.code, error.status, error.requestId, error.retryable],
        ['PRECISION_ERROR', 422, 'abc', false],
      )
      assert.deepEqual(error.details, details)
      assert.match(error.docs!, /^http:\/\/127\.0\.0\.1:\d+\/docs\/errors#precision_error$/)
      assert.match(error.message, /^Too many\. Change the request before you send it again\.$/)
      return true
    })
    replies = [refused(418, 'NEW_CODE')]
    await assert.rejects(call('read'), { code: 'NEW_CODE', retryable: false })
    // Notifications have a shape of their own.
    replies = [json(401, { error: 'UNAUTHENTICATED', message: 'No.', success: false })]
    await assert.rejects(call('read'), { name: 'BezelApiError', code: 'UNAUTHENTICATED', status: 401 })
  })

  it('tells apart no answer, a late one, and one of somebody else', async () => {
    replies = [(response) => void response.writeHead(502).end('<html>Bad gateway</html>')]
    const patient = transportTo(0, 120_000)
    const fast = transportTo(0, 100)
    const read = { operationId: 'x', method: 'GET', path: '/v1/x', auth: 'none', retry: 'read' } as const
    await assert.rejects(patient.call(read), { name: 'BezelNetworkError', code: 'UNEXPECTED_RESPONSE', status: 502 })
    replies = [json(502, { error: 'Bad Gateway', message: 'of a proxy', statusCode: 502 })]
    await assert.rejects(patient.call(read), { code: 'UNEXPECTED_RESPONSE', status: 502 })
    replies = [(response) => void response.writeHead(200).end('hello')]
    await assert.rejects(patient.call(read), { code: 'UNEXPECTED_RESPONSE' })
    replies = [() => undefined]
    await assert.rejects(fast.call(read), { code: 'TIMEOUT', message: /no answer within 0\.1 s/ })
    replies = [hangUp]
    await assert.rejects(patient.call({ ...read, method: 'POST' }), (error) => {
      assert.ok(error instanceof BezelNetworkError)
      assert.match(error.message, /Whether it was carried out is not known: read the account/)
      return error.code === 'NETWORK_ERROR' && !error.retryable
    })
  })

  it('reads with a key where there is one, and never writes with it', async () => {
    const headersOf = createHeaders({
      agent: undefined,
      apiKey: 'bz_1',
      headerPrefix: undefined,
      domain: async () => domain,
      trader: () => TRADER,
    })
    const read: ApiCall = { operationId: 'getOrder', method: 'GET', path: '/', auth: 'read', retry: 'read' }
    await assert.rejects(headersOf({ ...read, auth: 'agent' }, undefined, 0), { code: 'NO_AGENT' })
    assert.deepEqual(await headersOf(read, undefined, 0), { 'X-Service-Api-Key': 'bz_1', 'X-Service-Trader': TRADER })
    assert.deepEqual(await headersOf({ ...read, auth: 'none' }, undefined, 0), {}, 'public calls name nobody')
    const byWallet = await headersOf({ ...read, auth: { wallet: agent } }, undefined, 0)
    assert.deepEqual([byWallet['X-Service-Agent'], byWallet['X-Service-Trader']], [agent.address, agent.address])
  })
})
