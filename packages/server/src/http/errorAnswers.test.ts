import { MAX_BODY_BYTES } from '../access/limits.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { LightMyRequestResponse } from 'fastify'
import { createApp } from './createApp.ts'
import { createRefusals } from './errorAnswers.ts'
import { servedChainOf } from '../chain/servedChain.ts'

const app = createApp('silent')

const JSON_TYPE = { 'content-type': 'application/json' }

before(async () => {
  const body = Type.Object({ size: Type.String() }, { additionalProperties: false })
  app.post('/strict', { schema: { body } }, async () => ({ ok: true }))
  app.get('/refuse', async () => {
    throw new ApiError('PRECISION_ERROR', 'too fine', { field: 'size', value: '1.23', maxDecimals: 1 })
  })
  app.get('/fault', async () => {
    throw new Error('secret of the inside')
  })
  app.get('/throw-text', async () => {
    throw 'text'
  })
  app.get('/slow', async () => {
    await sleep(100)
    return { ok: true }
  })
  app.get<{ Params: { chain: string } }>('/on/:chain', async (request) => servedChainOf([], request.params.chain))
  await app.listen({ host: '127.0.0.1', port: 0 })
})

after(() => app.close())

function assertError(answer: LightMyRequestResponse, status: number, code: string): Record<string, unknown> {
  assert.equal(answer.statusCode, status, answer.body)
  assert.match(String(answer.headers['content-type']), /^application\/json/)
  assert.match(String(answer.headers['x-request-id']), /^[A-Za-z0-9._-]{1,64}$/)
  const body = answer.json<Record<string, unknown>>()
  assert.equal(body.code, code)
  assert.equal(typeof body.message, 'string')
  assert.deepEqual(
    Object.keys(body).filter((key) => !['code', 'message', 'details'].includes(key)),
    [],
  )
  return body
}

/** Sends raw bytes and reads until the server closes the connection. */
async function sendRaw(bytes: string, port = (app.server.address() as AddressInfo).port): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

describe('error answers', () => {
  it('are NOT_FOUND for an unknown path or method', async () => {
    assertError(await app.inject('/nothing/here'), 404, 'NOT_FOUND')
    // The framework checks the content type of a body before it looks for the route.
    assertError(await app.inject({ method: 'QUERY' as 'GET', url: '/refuse' }), 404, 'NOT_FOUND')
    assertError(await app.inject({ method: 'POST', url: '/nothing', payload: '{' }), 404, 'NOT_FOUND')
    assertError(await app.inject('/'), 404, 'NOT_FOUND')
    for (const method of ['DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const) {
      assertError(await app.inject({ method, url: '/refuse' }), 404, 'NOT_FOUND')
    }
  })

  it('do not quote the path back', async () => {
    const body = assertError(await app.inject('/<script>alert(1)</script>'), 404, 'NOT_FOUND')
    assert.doesNotMatch(String(body.message), /script/)
  })

  it('are CHAIN_NOT_FOUND for a chain that is not served', async () => {
    assertError(await app.inject('/on/base'), 404, 'CHAIN_NOT_FOUND')
  })

  it('carry the code, status and details of an ApiError', async () => {
    const body = assertError(await app.inject('/refuse'), 422, 'PRECISION_ERROR')
    assert.deepEqual(ownDetails(body.details), { field: 'size', value: '1.23', maxDecimals: 1 })
  })

  it('are VALIDATION_ERROR with each path for a body that fails its schema', async () => {
    const refused = async (payload: string): Promise<unknown> => {
      const answer = await app.inject({ method: 'POST', url: '/strict', headers: JSON_TYPE, payload })
      return ownDetails(assertError(answer, 400, 'VALIDATION_ERROR').details)
    }
    assert.deepEqual(await refused('{"size":1}'), { issues: [{ path: 'body.size', message: 'must be string' }] })
    assert.deepEqual(await refused('{"size":"1","extra":2}'), {
      issues: [{ path: 'body.extra', message: 'is not known; the fields are size' }],
    })
    assert.ok(await refused('[]'))
    assert.ok(await refused('null'))
  })

  it('are VALIDATION_ERROR for bodies that are no JSON', async () => {
    for (const payload of ['', '{', '{"size":"1"}}', 'size=1', '{"__proto__":{"a":1},"size":"1"}']) {
      const answer = await app.inject({ method: 'POST', url: '/strict', headers: JSON_TYPE, payload })
      assertError(answer, 400, 'VALIDATION_ERROR')
    }
  })

  it('are VALIDATION_ERROR for another content type', async () => {
    for (const type of ['text/html', 'application/xml', 'application/x-www-form-urlencoded', 'nonsense']) {
      const answer = await app.inject({
        method: 'POST',
        url: '/strict',
        headers: { 'content-type': type },
        payload: 'x',
      })
      const { details } = assertError(answer, 400, 'VALIDATION_ERROR')
      assert.deepEqual(ownDetails(details), {
        issues: [{ path: 'headers.Content-Type', message: 'must be application/json' }],
      })
    }
  })

  it('are VALIDATION_ERROR for a body over the limit, and not at the limit', async () => {
    const bodyOf = (bytes: number): string => `{"size":"${'1'.repeat(bytes - '{"size":""}'.length)}"}`
    const post = (payload: string) => app.inject({ method: 'POST', url: '/strict', headers: JSON_TYPE, payload })
    assert.equal((await post(bodyOf(MAX_BODY_BYTES))).statusCode, 200)
    const { details } = assertError(await post(bodyOf(MAX_BODY_BYTES + 1)), 400, 'VALIDATION_ERROR')
    assert.deepEqual(ownDetails(details), { issues: [{ path: 'body', message: 'has more than 65536 bytes' }] })
    assertError(await post(bodyOf(1_000_000)), 400, 'VALIDATION_ERROR')
  })

  it('are INTERNAL for a bug, with the request id and without its text', async () => {
    for (const url of ['/fault', '/throw-text']) {
      const answer = await app.inject({ url, headers: { 'x-request-id': 'abc-1' } })
      const { message } = assertError(answer, 500, 'INTERNAL')
      assert.match(String(message), /abc-1/)
      assert.doesNotMatch(answer.body, /secret|text/)
    }
  })

  it('are JSON also for absurd paths', async () => {
    for (const path of ['%zz', 'a'.repeat(5000)]) {
      const { message } = assertError(await app.inject(`/on/${path}`), 400, 'VALIDATION_ERROR')
      assert.doesNotMatch(String(message), /zz|aaa/)
    }
    assertError(await app.inject(`/${'../'.repeat(50)}etc/passwd`), 404, 'NOT_FOUND')
    assertError(await app.inject('/on/%00'), 404, 'CHAIN_NOT_FOUND')
  })

  it('are JSON also for bytes that are no HTTP', async () => {
    for (const bytes of [
      'garbage\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
    ]) {
      const answer = await sendRaw(bytes)
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
      assert.match(answer, /\r\nx-request-id: [\w-]{36}\r\n/)
      assert.equal((JSON.parse(answer.split('\r\n\r\n')[1]!) as { code: string }).code, 'VALIDATION_ERROR')
    }
  })
})

describe('a connection that is refused', () => {
  for (const [what, bytes] of [
    ['sent no HTTP', 'garbage\r\n\r\n'],
    ['sends headers without an end', `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(100_000)}`],
    ['sends many small headers', `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(100)}`],
  ] as const) {
    it(`is closed, and nothing more is read of it, although a client that ${what} keeps its own side open`, async () => {
      const accepted = once(app.server, 'connection')
      const client = connect({ port: (app.server.address() as AddressInfo).port, allowHalfOpen: true })
      const [socket] = (await accepted) as [Socket]
      const refused = once(app.server, 'clientError')
      client.write(bytes)
      const [{ rawPacket }] = (await refused) as [{ readonly rawPacket: Buffer }]
      assert.equal(rawPacket.byteLength, 0, 'the copy that Node made of it is freed')
      const read = socket.bytesRead
      let isLate = false
      // Node looks for requests that are late, and would say so of this one after 10 s.
      app.server.once('clientError', () => (isLate = true))
      if (!socket.destroyed) await once(socket, 'close')
      assert.deepEqual([isLate, socket.bytesRead - read], [false, 0])
      client.destroy()
    })
  }
})

describe('a flood of bytes that are no HTTP', () => {
  it('gets 200 refusals a second, and then only closed connections', async () => {
    let nowMs = 0
    const server = createServer().on(
      'clientError',
      createRefusals(() => nowMs),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const refusals = async (): Promise<number> => {
      const answers = await Promise.all(Array.from({ length: 250 }, () => sendRaw('garbage\r\n\r\n', port)))
      return answers.filter((answer) => answer !== '').length
    }
    try {
      assert.equal(await refusals(), 200)
      nowMs = 999
      assert.equal(await refusals(), 0)
      nowMs = 1_000
      assert.equal(await refusals(), 200)
    } finally {
      server.close()
    }
  })
})

describe('bytes that are no HTTP, behind a request', () => {
  const statuses = async (bytes: string): Promise<string[]> =>
    (await sendRaw(bytes)).match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3)) ?? []

  it('are refused after its own answer, however long that takes', async () => {
    for (const path of ['/slow', '/refuse']) {
      for (const header of ['', 'expect: the-unknown\r\n']) {
        const [own, ...rest] = await statuses(`GET ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\ngarbage\r\n\r\n`)
        assert.deepEqual([own, rest], [path === '/slow' ? '200' : '422', ['400']])
      }
    }
    const two = 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2)
    assert.deepEqual(await statuses(`${two}garbage\r\n\r\n`), ['200', '200', '400'])
    const head = 'POST /strict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    const longer = `${head}content-length: 12\r\n\r\n{"size":"1"} and more\r\n\r\n`
    assert.deepEqual(await statuses(longer), ['200', '400'], 'a body longer than its length')
  })

  it('are refused at once when they are part of it', async () => {
    const head = 'POST /strict HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    assert.deepEqual(await statuses(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`), ['400'])
  })
})

describe('a connection that takes too long', () => {
  /** Lets the time of a connection run out once the server has so many bytes of it. Returns what the client reads. */
  async function readAfterTimeout(bytes: string): Promise<string> {
    const connected = once(app.server, 'connection')
    const text = sendRaw(bytes)
    const [socket] = (await connected) as [Socket]
    while (socket.bytesRead < bytes.length) await new Promise(setImmediate)
    app.server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket)
    return text
  }

  it('is told so when a part of a request came', async () => {
    assert.match(await readAfterTimeout('GET /refuse HTTP/1.1\r\nho'), /^HTTP\/1\.1 400 [\s\S]*did not arrive in time/)
  })

  it('is closed without a word when nothing came, as by a browser that connects ahead', async () => {
    assert.equal(await readAfterTimeout(''), '')
  })
})

describe('an answer to HTTP that Node would refuse with an empty one', () => {
  it('is the same as to any other', async () => {
    for (const header of ['x-any: 1', 'host: x\r\nexpect: the-unknown']) {
      const answer = await sendRaw(`GET /refuse HTTP/1.1\r\n${header}\r\nconnection: close\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 422 /)
      assert.match(answer, /\r\nx-request-id: [\w-]{36}\r\n/)
      assert.match(answer, /"code":"PRECISION_ERROR"/)
    }
  })
})

describe('x-request-id', () => {
  const echoed = async (id: string): Promise<string> =>
    String((await app.inject({ url: '/refuse', headers: { 'x-request-id': id } })).headers['x-request-id'])

  it("is the caller's when it is well-formed", async () => {
    for (const id of ['a', 'A.b_c-1', '9'.repeat(64)]) assert.equal(await echoed(id), id)
  })

  it('is a fresh one otherwise', async () => {
    for (const id of ['', ' ', 'a b', 'a\tb', 'ü', 'a,b', '9'.repeat(65)])
      assert.match(await echoed(id), /^[0-9a-f-]{36}$/)
    assert.notEqual(await echoed(''), await echoed(''))
  })
})
