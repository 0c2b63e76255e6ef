import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { CHAINS } from '@bezel/protocol'
import { createApp } from '../http/createApp.ts'
import { serveDocs } from './serveDocs.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the served reference', () => {
  const app = createApp('silent')
  serveDocs(app, {
    headerPrefix: 'X-Test-',
    chains: [{ slug: 'base', diamond: CHAINS.base.liveDiamond }],
    chainsFile: '/nowhere/chains.json',
    publicUrl: undefined,
  })

  it('answers with the right types, a strict policy, and a tag', async () => {
    for (const [url, type] of [
      ['/docs', 'text/html'],
      ['/docs/rest', 'text/html'],
      ['/docs/rest.md', 'text/markdown'],
      ['/docs/docs.css', 'text/css'],
      ['/docs/docs.js', 'text/javascript'],
      ['/docs/search.js', 'text/javascript'],
      ['/docs/index.js', 'text/javascript'],
      ['/docs/rest/getMarket', 'text/html'],
      ['/docs/rest/getMarket.md', 'text/markdown'],
      ['/docs/icon.svg', 'image/svg+xml'],
      ['/docs/order-lifecycle.svg', 'image/svg+xml'],
      ['/docs/examples/firstTrade.mjs', 'text/plain'],
      ['/llms.txt', 'text/plain'],
      ['/llms-full.txt', 'text/plain'],
    ] as const) {
      const answer = await app.inject({ url, headers: BROWSER })
      assert.equal(answer.statusCode, 200, url)
      assert.equal(answer.headers['content-type'], `${type}; charset=utf-8`, url)
      const policy = String(answer.headers['content-security-policy'])
      assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';/)
      assert.ok(!policy.includes('unsafe'))
      assert.match(policy, /; require-trusted-types-for 'script'; trusted-types 'none'/)
      // Only a page with a form may send requests, and only to this service.
      assert.equal(
        /connect-src [^;]*/.exec(policy)?.[0],
        url === '/docs/rest/getMarket' ? "connect-src 'self'" : undefined,
      )
      assert.equal(answer.headers['x-content-type-options'], 'nosniff')
      assert.match(String(answer.headers.etag), /^W\/"[\w-]{16}"$/)
      assert.equal(answer.headers['cache-control'], 'public, no-cache', url)
    }
  })

  it('tells of the routes of this deployment, under its own prefix', async () => {
    const { body } = await app.inject('/docs/rest.md')
    assert.match(body, /^### createOrder$/m)
    assert.ok(body.includes('X-Test-Api-Key') && !body.includes('X-Service-'))
  })

  it('answers 304 to who knows the tag, weak or not', async () => {
    const { etag } = (await app.inject('/docs/api')).headers
    for (const known of [etag, String(etag).slice(2), `"other", ${etag}`, '*']) {
      const answer = await app.inject({ url: '/docs/api', headers: { 'if-none-match': String(known) } })
      assert.equal(answer.statusCode, 304, String(known))
      assert.equal(answer.body, '')
      assert.equal(answer.headers.etag, etag)
    }
    const other = await app.inject({ url: '/docs/api', headers: { 'if-none-match': '"other"' } })
    assert.equal(other.statusCode, 200)
  })

  it('lets what is named by its version be kept for ever', async () => {
    const page = (await app.inject('/docs')).body
    for (const url of [/href="(\/docs\/docs\.css\?v=[\w-]+)"/, /src="(\/docs\/docs\.js\?v=[\w-]+)"/]) {
      const [, address = ''] = url.exec(page) ?? []
      const answer = await app.inject(address)
      assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
    }
    assert.equal((await app.inject('/docs/docs.css?v=older')).headers['cache-control'], 'public, no-cache')
  })

  it('sends text in a fraction of its bytes to who asks for that', async () => {
    for (const url of ['/docs', '/docs/rest', '/docs/rest.md', '/docs/docs.css', '/docs/docs.js', '/llms-full.txt']) {
      const plain = await app.inject(url)
      const zipped = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
      assert.equal(zipped.headers['content-encoding'], 'br', url)
      assert.equal(zipped.headers['content-security-policy'], plain.headers['content-security-policy'])
      assert.deepEqual(brotliDecompressSync(zipped.rawPayload), plain.rawPayload, url)
      assert.ok(zipped.rawPayload.length * 2 < plain.rawPayload.length, url)
    }
  })

  it('answers HEAD with the same headers and no body', async () => {
    const get = await app.inject('/docs/errors')
    const head = await app.inject({ method: 'HEAD', url: '/docs/errors' })
    assert.equal(head.statusCode, 200)
    assert.equal(head.body, '')
    assert.equal(head.headers.etag, get.headers.etag)
    assert.equal(head.headers['content-length'], get.headers['content-length'])
  })

  it('shows a browser a way back from a page that is not there, and tells a program in JSON', async () => {
    for (const url of ['/docs/nope', '/docs/nope.md', '/docs/examples/nope.mjs', '/docs/constructor', '/docs/%00']) {
      const page = await app.inject({ url, headers: BROWSER })
      assert.equal(page.statusCode, 404, url)
      assert.match(page.body, /href="\/docs"/)
      assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
      assert.equal(page.headers.vary, 'Accept')
      const json = await app.inject(url)
      assert.equal(json.statusCode, 404, url)
      assert.equal(json.json<{ code: string }>().code, 'NOT_FOUND')
    }
    for (const url of ['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/examples/..%2f..%2fpackage.json']) {
      assert.equal((await app.inject(url)).statusCode, 404, url)
    }
    assert.equal((await app.inject({ method: 'POST', url: '/docs' })).json<{ code: string }>().code, 'NOT_FOUND')
  })

  it('forgives a slash at the end', async () => {
    for (const [url, to] of [
      ['/docs/', '/docs'],
      ['/docs/api/', '/docs/api'],
    ] as const) {
      const answer = await app.inject(url)
      assert.equal(answer.statusCode, 308)
      assert.equal(answer.headers.location, to)
    }
  })

  it('adds no operation to the interface, so no label to the metrics', async () => {
    assert.ok(!(await app.inject('/docs/rest.md')).body.includes('GET /docs'))
  })
})
