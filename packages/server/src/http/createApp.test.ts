import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { Annotated, ApiError, Closed, DecimalSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { createApp } from './createApp.ts'

interface LoggedError {
  readonly message: string
  readonly code: string
  readonly stack: string
  readonly cause?: LoggedError
}

it('leaves a body as it came: a default in a schema is for readers', async () => {
  const app = createApp('silent')
  const body = Closed({ slippage: Type.Optional(Annotated(DecimalSchema, { default: '1' })) })
  app.post('/echo', { schema: { body } }, async (request) => ({ got: request.body }))
  const answer = await app.inject({ method: 'POST', url: '/echo', payload: {} })
  assert.deepEqual(answer.json(), { got: {} })
  await app.close()
})

describe('the largest head that an honest client sends', () => {
  /** The headers of a browser behind two proxies. */
  const BROWSER_HEADERS = {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br, zstd',
    'accept-language': 'en-GB,en-US;q=0.9,en;q=0.8,de;q=0.7',
    'cache-control': 'no-cache',
    cookie: `session=${'c'.repeat(4_000)}`,
    dnt: '1',
    origin: 'https://console.trading.example.com',
    pragma: 'no-cache',
    priority: 'u=0, i',
    referer: `https://console.trading.example.com/${'r'.repeat(200)}`,
    'sec-ch-ua': '"Chromium";v="140", "Not=A?Brand";v="24", "Google Chrome";v="140"',
    'sec-ch-ua-mobile': '?0',
    'sec-ch-ua-platform': '"macOS"',
    'sec-fetch-dest': 'empty',
    'sec-fetch-mode': 'cors',
    'sec-fetch-site': 'same-site',
    'sec-fetch-user': '?1',
    'upgrade-insecure-requests': '1',
    'user-agent': `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 ${'u'.repeat(100)}`,
    'cdn-loop': 'cdn; loops=1',
    forwarded: `for="[2001:db8:1111:2222:3333:4444:5555:6666]";proto=https;host=trading.example.com`,
    traceparent: `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    tracestate: 't'.repeat(256),
    via: '1.1 front.example.com, 1.1 second.example.com',
    'x-forwarded-for': Array(4).fill('2001:db8:1111:2222:3333:4444:5555:6666').join(', '),
    'x-forwarded-host': 'trading.example.com',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
    'x-forwarded-server': 'front.example.com',
    'x-real-ip': '2001:db8:1111:2222:3333:4444:5555:6666',
    'x-request-id': 'i'.repeat(64),
  }
  const CREDENTIALS = {
    'x-service-agent': `0x${'a'.repeat(40)}`,
    'x-service-timestamp': '1'.repeat(16),
    'x-service-nonce': '9'.repeat(78),
    'x-service-signature': `0x${'f'.repeat(130)}`,
    'x-service-trader': `0x${'b'.repeat(40)}`,
    'x-service-api-key': 'k'.repeat(64),
    'x-service-after': '9'.repeat(16),
    'if-none-match': `"${'e'.repeat(64)}"`,
    'content-type': 'application/json',
    'idempotency-key': 'd'.repeat(64),
  }
  const UPGRADE = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'p'.repeat(64),
    'sec-websocket-version': '13',
  }

  it('fits, of a signed request and of one that opens a WebSocket', async () => {
    const app = createApp('silent')
    app.get('/on/:label', async ({ headers }) => headers)
    try {
      await app.listen({ host: '127.0.0.1', port: 0 })
      app.server.on('upgrade', ({ headers }, socket) => {
        socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${JSON.stringify(headers)}`)
      })
      const { port } = app.server.address() as AddressInfo
      // The longest label, and every field of an order's preview with a long number.
      const path = `/on/${'%F0%9F%A6%8A'.repeat(48)}?${'field=1234567890.123456789012345678&'.repeat(14)}`
      for (const more of [{}, UPGRADE]) {
        const headers = { host: 'trading.example.com', ...BROWSER_HEADERS, ...CREDENTIALS, ...more }
        const asked = get({ port, path, headers, agent: false })
        const [answer] = (await once(asked, 'response')) as [IncomingMessage]
        assert.partialDeepStrictEqual(await json(answer), headers)
      }
    } finally {
      await app.close()
    }
  })
})

describe('the log of answers', () => {
  /** Creates a server whose log lines are collected. */
  function createLoggedApp(level: string): {
    readonly app: FastifyInstance
    readonly lines: Record<string, unknown>[]
  } {
    const lines: Record<string, unknown>[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)))
        done()
      },
    })
    const app = createApp(level, { node: 'node-1', stream })
    app.get('/well', { schema: { operationId: 'getWell' } as object }, async () => ({}))
    app.get('/refused', { schema: { operationId: 'getRefused' } as object }, async () => {
      throw new ApiError('PRECISION_ERROR', 'too fine')
    })
    app.get('/failed', { schema: { operationId: 'getFailed' } as object }, async () => {
      throw new Error('inside')
    })
    return { app, lines }
  }

  const CASES = [
    { url: '/well', operation: 'getWell', status: 200, code: undefined },
    { url: '/refused', operation: 'getRefused', status: 422, code: 'PRECISION_ERROR' },
    { url: '/failed', operation: 'getFailed', status: 500, code: 'INTERNAL' },
    { url: '/nowhere', operation: 'none', status: 404, code: 'NOT_FOUND' },
    { url: '/%', operation: 'none', status: 400, code: 'VALIDATION_ERROR' },
  ]

  for (const { url, ...expected } of CASES) {
    it(`has one line for ${url}, with request, operation, code, status, time and node`, async () => {
      const { app, lines } = createLoggedApp('info')
      const answer = await app.inject({ url, headers: { 'x-request-id': 'mine' } })
      await app.close()
      assert.equal(answer.statusCode, expected.status)
      const answered = lines.filter(({ msg }) => msg === 'answered')
      assert.deepEqual(
        answered.map(({ requestId, operation, status, code, node }) => ({ requestId, operation, status, code, node })),
        [{ requestId: 'mine', node: 'node-1', ...expected }],
      )
      assert.ok(Number(answered[0]!['ms']) >= 0, 'it has its time')
    })
  }

  it('has nothing of headers, bodies and queries', async () => {
    const { app, lines } = createLoggedApp('info')
    await app.inject({ url: '/well?key=in-query', headers: { 'x-service-signature': 'in-header' } })
    await app.inject({ url: '/in-path' })
    await app.close()
    assert.equal(lines.length, 2)
    assert.doesNotMatch(JSON.stringify(lines), /in-query|in-header|in-path/)
  })

  it('has of an error its message, code, stack and causes, and none of the fields that drivers add', async () => {
    const { app, lines } = createLoggedApp('info')
    app.get('/row', async () => {
      const cause = Object.assign(new Error('refused'), { code: '23505', detail: 'Key (name)=(secret-row)' })
      throw Object.assign(new Error('not stored', { cause }), {
        input: 'redis://:secret-url@h',
        command: 'secret-word',
      })
    })
    app.get('/text', async () => {
      throw { toString: () => 'secret-text' }
    })
    await app.inject({ url: '/row' })
    await app.inject({ url: '/text' })
    await app.close()
    const [row, text] = lines.filter(({ msg }) => msg === 'request failed').map(({ err }) => err as LoggedError)
    assert.deepEqual([row!.message, row!.cause!.message, row!.cause!.code], ['not stored', 'refused', '23505'])
    assert.match(row!.stack, /createApp\.test/)
    assert.equal(text!.message, 'no error was thrown')
    assert.doesNotMatch(JSON.stringify(lines), /secret-/)
  })

  it('is not written above its level; every other line has the node too', async () => {
    const { app, lines } = createLoggedApp('warn')
    await app.inject({ url: '/well' })
    app.log.warn('a warning')
    await app.close()
    assert.deepEqual(
      lines.map(({ msg, node }) => [msg, node]),
      [['a warning', 'node-1']],
    )
  })
})
