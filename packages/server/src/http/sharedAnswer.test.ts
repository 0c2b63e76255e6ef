import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { createInProcessLimits } from '../access/inProcessLimits.ts'
import { createApp } from './createApp.ts'
import { allowOrigins, registerHooks } from './hooks/registerHooks.ts'
import { sendShared } from './sharedAnswer.ts'

const TYPE = 'application/json; charset=utf-8'

/** Returns a body as long as a list of many markets, which says `what`. */
const listOf = (what: string): Buffer =>
  Buffer.from(JSON.stringify({ data: Array.from({ length: 500 }, (_, index) => ({ index, what, price: '1.25' })) }))

describe('an answer that is the same for everybody', () => {
  let app: FastifyInstance
  let body: Buffer

  beforeEach(() => {
    body = listOf('first')
    app = createApp('silent')
    registerHooks(app, { limits: createInProcessLimits(), limit: 1_000, trustedProxies: 0, now: () => 0 })
    allowOrigins(app, { headerPrefix: 'X-Test-' })
    app.get('/v1/list', (request, reply) => sendShared(request, reply, { type: TYPE, body }))
    app.get('/v1/ticks', (request, reply) => sendShared(request, reply, { type: TYPE, body, isTagged: false }))
    app.get('/v1/kept', (request, reply) => sendShared(request, reply, { type: TYPE, body, cacheControl: 'public' }))
  })

  const ask = (headers: InjectOptions['headers'] = {}, of: InjectOptions = {}) =>
    app.inject({ url: '/v1/list', headers, ...of })

  it('comes as it is to a client that asks for nothing', async () => {
    const answer = await ask()
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.rawPayload, body)
    const { vary, etag, 'content-type': type, 'content-encoding': coding, 'content-length': length } = answer.headers
    assert.deepEqual([vary, type, coding, length], ['Accept-Encoding', TYPE, undefined, String(body.length)])
    assert.match(String(etag), /^W\/"[\w-]{16}"$/)
    assert.equal(answer.headers['cache-control'], 'public, no-cache')
  })

  it('comes compressed to a client that asks for it, in a fraction of the bytes', async () => {
    for (const [header, coding, decompress] of [
      ['gzip', 'gzip', gunzipSync],
      ['gzip, deflate, br', 'br', brotliDecompressSync],
    ] as const) {
      const { statusCode, headers, rawPayload } = await ask({ 'accept-encoding': header })
      assert.equal(statusCode, 200)
      assert.deepEqual([headers['content-encoding'], headers.vary], [coding, 'Accept-Encoding'])
      assert.equal(headers['content-type'], TYPE)
      assert.equal(headers['content-length'], String(rawPayload.length))
      assert.deepEqual(decompress(rawPayload), body)
      assert.ok(rawPayload.length * 8 < body.length, `${rawPayload.length} of ${body.length} bytes`)
      assert.equal(headers.etag, (await ask()).headers.etag, 'the tag is of the content, not of its form')
    }
  })

  it('is compressed once for all who ask for it, also at the same time', async () => {
    const sent: unknown[] = []
    app.addHook('onSend', async (_request, _reply, payload) => {
      sent.push(payload)
      return payload
    })
    await Promise.all(Array.from({ length: 20 }, () => ask({ 'accept-encoding': 'br' })))
    await ask({ 'accept-encoding': 'br' })
    assert.deepEqual([sent.length, new Set(sent).size], [21, 1], 'the very same bytes')
    await ask()
    assert.equal(sent.at(-1), body)
  })

  it('has another tag and other bytes when it is another one, and the same tag when it says the same', async () => {
    const first = await ask()
    body = listOf('first')
    assert.equal((await ask()).headers.etag, first.headers.etag)
    body = listOf('second')
    const second = await ask({ 'accept-encoding': 'gzip', 'if-none-match': String(first.headers.etag) })
    assert.equal(second.statusCode, 200)
    assert.notEqual(second.headers.etag, first.headers.etag)
    assert.deepEqual(gunzipSync(second.rawPayload), body)
  })

  it('is 304 without a body to a client that has it, with the headers of the limit', async () => {
    const tag = String((await ask()).headers.etag)
    for (const header of [tag, tag.slice(2), `"other", ${tag}`, `W/"a",${tag},"b"`, '*', ` ${tag} `]) {
      const answer = await ask({ 'if-none-match': header, 'accept-encoding': 'gzip', origin: 'https://a.example' })
      assert.deepEqual([answer.statusCode, answer.body], [304, ''], header)
      const { etag, vary, 'cache-control': cache, 'content-type': type, 'content-encoding': coding } = answer.headers
      assert.deepEqual(
        [etag, vary, cache, type, coding],
        [tag, 'Accept-Encoding', 'public, no-cache', undefined, undefined],
      )
      assert.equal(answer.headers['ratelimit-limit'], '1000')
      assert.ok(Number(answer.headers['ratelimit-remaining']) < 999, 'it is charged')
      assert.match(String(answer.headers['x-request-id']), /./)
      assert.equal(answer.headers['access-control-allow-origin'], '*')
    }
    for (const header of ['"other"', '', tag.slice(0, -1), tag.toLowerCase().replace('"', '"x')]) {
      assert.equal((await ask({ 'if-none-match': header })).statusCode, 200, header)
    }
  })

  it('answers HEAD with the headers of GET', async () => {
    for (const headers of [{}, { 'accept-encoding': 'br' }]) {
      const [get, head] = [await ask(headers), await ask(headers, { method: 'HEAD' })]
      assert.deepEqual([head.statusCode, head.body], [200, ''])
      for (const name of ['etag', 'vary', 'cache-control', 'content-type', 'content-encoding', 'content-length']) {
        assert.equal(head.headers[name], get.headers[name], name)
      }
    }
    const { etag } = (await ask()).headers
    const known = await ask({ 'if-none-match': String(etag) }, { method: 'HEAD' })
    assert.equal(known.statusCode, 304)
  })

  it('has no tag where one would be useless, and is compressed all the same', async () => {
    const answer = await ask({ 'accept-encoding': 'gzip', 'if-none-match': '*' }, { url: '/v1/ticks' })
    assert.deepEqual([answer.statusCode, answer.headers.etag], [200, undefined])
    assert.equal(answer.headers['content-encoding'], 'gzip')
  })

  it('stays as it is when it is small, unless that is refused', async () => {
    body = Buffer.from('{"data":[]}')
    assert.equal((await ask({ 'accept-encoding': 'gzip, br' })).headers['content-encoding'], undefined)
    const forced = await ask({ 'accept-encoding': 'gzip, identity;q=0' })
    assert.equal(forced.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(forced.rawPayload), body)
  })

  it('may name a cache rule of its own', async () => {
    assert.equal((await ask({}, { url: '/v1/kept' })).headers['cache-control'], 'public')
  })
})
