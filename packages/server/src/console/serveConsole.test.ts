import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { parseAddress, SANDBOX_ADDRESSES } from '@bezel/protocol'
import { SANDBOX_MARKER_NAME } from '@bezel/protocol/dataFolder'
import { testChain } from '@bezel/testkit/servedChain.ts'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { keccak256, stringToHex } from 'viem'
import { createInProcessLimits } from '../access/inProcessLimits.ts'
import { createApp } from '../http/createApp.ts'
import { allowOrigins, registerHooks } from '../http/hooks/registerHooks.ts'
import { registerRoute } from '../http/hooks/registerRoute.ts'
import { getIndexRoute } from '../http/routes/system/getIndex.ts'
import { serveConsole, type ConsoleOptions } from './serveConsole.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const PAGE = `<!doctype html><title>Bezel</title><script type="module" src="/assets/main-AB12.js"></script>${' '.repeat(2_000)}`
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))})`
const LOCAL_DIAMOND = parseAddress('0x1111111111111111111111111111111111111111')!

const scratch = mkdtempSync(join(tmpdir(), 'bezel-console-test-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const bundleFolder = join(scratch, 'dist')
mkdirSync(join(bundleFolder, 'assets'), { recursive: true })
for (const [path, text] of [
  ['index.html', PAGE],
  ['assets/main-AB12.js', SCRIPT],
  ['assets/main-AB12.js.map', '{}'],
  ['assets/main-CD34.css', 'body { margin: 0 }'],
] as const) {
  writeFileSync(join(bundleFolder, path), text)
  writeFileSync(join(bundleFolder, `${path}.br`), brotliCompressSync(text))
  writeFileSync(join(bundleFolder, `${path}.gz`), gzipSync(text))
}
writeFileSync(join(bundleFolder, 'manifest.json'), JSON.stringify({ digest: 'f00d' }))

/** Makes the folder of a local chain with its accounts, and some that are none of its. Returns its chains file. */
function sandboxFile(name: string, isMarked = true): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  if (isMarked) writeFileSync(join(folder, SANDBOX_MARKER_NAME), '{}')
  const account = (of: string) => ({
    name: of,
    address: SANDBOX_ADDRESSES[of],
    privateKey: keccak256(stringToHex(`bezel devnet account ${of}`)),
  })
  const foreign = { name: 'trader-6', address: SANDBOX_ADDRESSES['trader-1'], privateKey: `0x${'7'.repeat(64)}` }
  const accounts = [account('trader-1'), account('agent-1'), account('relayer'), foreign, null, { name: 'trader-2' }]
  writeFileSync(join(folder, 'devnet.json'), JSON.stringify({ accounts }))
  return join(folder, 'devnet.json')
}

const LIVE = [testChain('base', { rpcUrl: 'https://node.example/secret' })]
const LOCAL = [testChain('base', { diamond: LOCAL_DIAMOND, rpcUrl: 'http://127.0.0.1:8545/base' })]

function appWith(changes: Partial<ConsoleOptions>): FastifyInstance {
  const app = createApp('silent')
  registerHooks(app, { limits: createInProcessLimits(), limit: 1_000, trustedProxies: 0, now: () => 0 })
  allowOrigins(app, { headerPrefix: 'X-Test-' })
  const options = { console: 'on', chains: LIVE, chainsFile: '/nowhere/chains.json', host: '127.0.0.1' } as const
  const sendHome = serveConsole(app, { ...options, publicUrl: undefined, bundleFolder, ...changes })
  registerRoute(app, getIndexRoute, { chains: changes.chains ?? LIVE, sendHome })
  return app
}

const directive = (policy: unknown, name: string): string | undefined =>
  String(policy)
    .split('; ')
    .find((one) => one.startsWith(`${name} `))

describe('the page', () => {
  const app = appWith({})
  const paths = ['/', '/?chain=base', '/markets', '/trade/BTC-USD?order=12', '/portfolio', '/history/fills', '/system/']

  it('is the same at the path of every view, asked for each time, with a tag', async () => {
    for (const url of [...paths, '/agents']) {
      const answer = await app.inject({ url, headers: BROWSER })
      assert.deepEqual([answer.statusCode, answer.body], [200, PAGE], url)
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(answer.headers['cache-control'], 'public, no-cache')
      assert.equal(answer.headers.vary, 'Accept, Accept-Encoding')
      const known = await app.inject({ url, headers: { ...BROWSER, 'if-none-match': String(answer.headers.etag) } })
      assert.deepEqual([known.statusCode, known.body], [304, ''])
    }
    assert.equal((await app.inject({ method: 'HEAD', url: '/', headers: BROWSER })).statusCode, 200)
  })

  it('allows no script or style but files of the service, and no frame around it', async () => {
    for (const url of paths) {
      const { headers } = await app.inject({ url, headers: { ...BROWSER, host: 'bezel.example' } })
      assert.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      )
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['x-frame-options'], 'DENY')
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    }
  })

  it('may open the WebSocket of its service, and repeats no name of a stranger', async () => {
    const connect = async (options: Partial<ConsoleOptions>, host: string) => {
      const { headers } = await appWith(options).inject({ url: '/', headers: { ...BROWSER, host } })
      return directive(headers['content-security-policy'], 'connect-src')
    }
    const publicUrl = 'https://bezel.example'
    assert.equal(await connect({}, 'localhost:8080'), "connect-src 'self' ws://localhost:8080")
    assert.equal(await connect({ publicUrl }, 'evil.example'), "connect-src 'self' wss://bezel.example")
    assert.equal(await connect({}, 'localhost:80; script-src *'), "connect-src 'self'")
  })

  it('leaves programs the index at the root, and tells them that views are no routes', async () => {
    for (const accept of ['*/*', 'application/json']) {
      assert.equal((await app.inject({ url: '/', headers: { accept } })).json().name, 'Bezel')
      const answer = await app.inject({ url: '/portfolio', headers: { accept } })
      assert.deepEqual([answer.statusCode, answer.json().code], [404, 'NOT_FOUND'])
    }
    assert.equal((await app.inject({ url: '/nothing', headers: BROWSER })).statusCode, 404)
    assert.equal((await app.inject({ url: '/tradeX', headers: BROWSER })).statusCode, 404)
  })
})

describe('the files of the page', () => {
  const app = appWith({})
  const ask = (name: string, headers: InjectOptions['headers'] = {}) => app.inject({ url: `/assets/${name}`, headers })

  it('may be kept for ever, and come as they were compressed by the build', async () => {
    const plain = await ask('main-AB12.js')
    assert.deepEqual([plain.statusCode, plain.body], [200, SCRIPT])
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(plain.headers['x-content-type-options'], 'nosniff')
    const small = await ask('main-AB12.js', { 'accept-encoding': 'gzip, br' })
    assert.equal(small.headers['content-encoding'], 'br')
    assert.deepEqual(small.rawPayload, brotliCompressSync(SCRIPT))
    assert.equal(brotliDecompressSync(small.rawPayload).toString(), SCRIPT)
    const zipped = await ask('main-AB12.js', { 'accept-encoding': 'gzip' })
    assert.equal(gunzipSync(zipped.rawPayload).toString(), SCRIPT)
    assert.equal((await ask('main-CD34.css')).headers['content-type'], 'text/css; charset=utf-8')
  })

  it('are those of the bundle alone: no source map, no compressed form by its name, nothing beside the folder', async () => {
    for (const name of [
      'main-AB12.js.map',
      'main-AB12.js.br',
      'main-0000.js',
      '..%2findex.html',
      '..%2fmanifest.json',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      '__proto__',
      '',
    ]) {
      const answer = await ask(name, BROWSER)
      assert.deepEqual([answer.statusCode, answer.json().code], [404, 'NOT_FOUND'], name)
    }
  })
})

describe('/console.json', () => {
  const settings = async (app: FastifyInstance, headers: InjectOptions['headers'] = {}, of: InjectOptions = {}) => {
    const answer = await app.inject({ url: '/console.json', headers, ...of })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
    return answer.json()
  }

  it('tells of a live deployment what everybody may know, and nothing of its node', async () => {
    const told = await settings(appWith({}))
    assert.deepEqual(told, {
      apiBase: '',
      chains: [
        {
          slug: 'base',
          chainId: 8453,
          name: 'Base',
          diamond: LIVE[0]!.diamond,
          rpcUrl: null,
          explorer: 'https://basescan.org',
        },
      ],
      sandbox: null,
      version: 'f00d',
    })
  })

  it('tells the accounts and the nodes of a local chain to a browser on the same machine', async () => {
    const app = appWith({ chains: LOCAL, chainsFile: sandboxFile('local') })
    for (const host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080']) {
      const { sandbox, chains } = await settings(app, { host })
      assert.deepEqual(
        sandbox.accounts.map(({ name, address }: { name: string; address: string }) => [name, address]),
        [
          ['trader-1', SANDBOX_ADDRESSES['trader-1']],
          ['agent-1', SANDBOX_ADDRESSES['agent-1']],
        ],
        'no account that has work to do, and none whose key is not of the sandbox',
      )
      assert.deepEqual([chains[0].rpcUrl, chains[0].explorer], ['http://127.0.0.1:8545/base', null])
      const { headers } = await app.inject({ url: '/', headers: { ...BROWSER, host } })
      const connect = directive(headers['content-security-policy'], 'connect-src')
      assert.equal(connect, `connect-src 'self' ws://${host} http://127.0.0.1:8545`)
    }
  })

  it('tells no key and no node to anybody else', async () => {
    const app = appWith({ chains: LOCAL, chainsFile: sandboxFile('asked') })
    const asked: readonly [InjectOptions['headers'], InjectOptions?][] = [
      [{ host: 'evil.example' }],
      [{ host: 'localhost.evil.example:8080' }],
      [{ host: 'localhost', 'x-forwarded-for': '127.0.0.1' }],
      [{ host: 'localhost', via: '1.1 proxy' }],
      [{ host: 'localhost' }, { remoteAddress: '10.0.0.7' }],
    ]
    for (const [headers, of] of asked) {
      const told = await settings(app, headers, of)
      assert.deepEqual([told.sandbox, told.chains[0].rpcUrl], [null, null], JSON.stringify([headers, of]))
      assert.doesNotMatch(JSON.stringify(told), /0x\w{64}/)
      const page = await app.inject({ url: '/', headers: { ...BROWSER, ...headers }, ...of })
      assert.doesNotMatch(String(page.headers['content-security-policy']), /8545/)
    }
  })

  it('tells no key where the deployment is no sandbox on this machine alone', async () => {
    const chainsFile = sandboxFile('other')
    const remote = [testChain('base', { diamond: LOCAL_DIAMOND, rpcUrl: 'https://node.example/base' })]
    for (const [what, options] of [
      ['a live Diamond', { chains: [testChain('base', { rpcUrl: 'http://127.0.0.1:8545/base' })], chainsFile }],
      ['one live Diamond of two', { chains: [...LOCAL, testChain('polygon')], chainsFile }],
      ['an address that others reach', { chains: LOCAL, chainsFile, host: '0.0.0.0' }],
      ['a node elsewhere', { chains: remote, chainsFile }],
      ['a folder that no local chain has marked', { chains: LOCAL, chainsFile: sandboxFile('unmarked', false) }],
    ] as const) {
      const told = await settings(appWith(options), { host: 'localhost' })
      assert.equal(told.sandbox, null, what)
      assert.ok(!JSON.stringify(told).includes('8545') && !JSON.stringify(told).includes('node.example'), what)
    }
  })
})

describe('a service without a console of its own', () => {
  const home = async (app: FastifyInstance, url = '/') => {
    const { statusCode, headers } = await app.inject({ url, headers: BROWSER })
    return [statusCode, headers.location]
  }

  it('leads to the documentation when it is switched off, and has nothing of it', async () => {
    const app = appWith({ console: 'off' })
    assert.deepEqual(await home(app), [302, '/docs'])
    for (const path of ['/console.json', '/portfolio', '/assets/main-AB12.js']) {
      assert.deepEqual(await home(app, path), [404, undefined], path)
    }
  })

  it('leads to the documentation when none was built, and says once how to build it', async () => {
    const app = createApp('silent')
    const lines: unknown[] = []
    app.log.warn = (line: unknown) => lines.push(line)
    const options = { console: 'on', chains: LIVE, chainsFile: '/nowhere/chains.json', host: '127.0.0.1' } as const
    const sendHome = serveConsole(app, { ...options, publicUrl: undefined, bundleFolder: join(scratch, 'none') })
    registerRoute(app, getIndexRoute, { chains: LIVE, sendHome })
    assert.deepEqual(lines, [
      'the console is not built, so / leads to /docs: run npm run console, then start the service again',
    ])
    assert.deepEqual(await home(app), [302, '/docs'])
    assert.deepEqual(await home(app, '/portfolio'), [404, undefined])
  })

  it('leads to another origin, view by view, whose pages may read its settings but never a key', async () => {
    const origin = 'https://console.example'
    const chainsFile = sandboxFile('elsewhere')
    const app = appWith({ console: { origin }, publicUrl: 'https://api.example', chains: LOCAL, chainsFile })
    assert.deepEqual(await home(app), [302, `${origin}/`])
    assert.deepEqual(await home(app, '/trade/BTC-USD?order=1'), [302, `${origin}/trade/BTC-USD?order=1`])
    assert.deepEqual(await home(app, '/assets/main-AB12.js'), [404, undefined])
    const answer = await app.inject({ url: '/console.json', headers: { host: 'localhost' } })
    assert.equal(answer.headers['access-control-allow-origin'], origin)
    assert.equal(answer.headers.vary, 'Origin')
    assert.deepEqual([answer.json().apiBase, answer.json().sandbox], ['https://api.example', null])
    assert.equal(answer.json().chains[0].rpcUrl, null)
  })
})
