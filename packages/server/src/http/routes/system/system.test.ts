import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { type ChainSlug } from '@bezel/protocol'
import { NO_CONTROLS } from '../../../access/testing/noControls.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import type { RelayerState } from './ready.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { PUBLIC_ROUTES, type PublicContext } from '../registerRoutes.ts'

/** Creates an app with the routes over two chains, with readiness as the test sets it. No node is behind them. */
function appWith(
  ready: Partial<Record<ChainSlug, boolean>>,
  relayers: Partial<Record<ChainSlug, RelayerState>> = {},
  changed: Partial<Record<ChainSlug, string>> = {},
  leftOut: Partial<Record<ChainSlug, readonly string[]>> = {},
  warnings: Partial<Record<ChainSlug, string>> = {},
  illProviders: Partial<Record<ChainSlug, string>> = {},
  redisWarning?: string,
): ReturnType<typeof createApp> {
  const app = createApp('silent')
  const context: PublicContext = {
    chains: [testChain('base'), testChain('arbitrum-sepolia')],
    sendHome: (_request, reply) => reply.redirect('/home'),
    notReadyReason: (slug) => (ready[slug] ? undefined : 'feed_stale'),
    diamondWarning: (slug) => changed[slug],
    marketsLeftOut: (slug) => leftOut[slug] ?? [],
    marketsWarning: (slug) => warnings[slug],
    providersWarning: (slug) => illProviders[slug],
    redisWarning: () => redisWarning,
    markets: new Map(),
    domainName: 'Test API',
    relayerOf: () => null,
    knownSince: () => ({ block: 7, timestampMs: null }),
    controls: NO_CONTROLS,
    relayerState: (slug) => relayers[slug],
    now: () => 1_790_000_000_000,
  }
  for (const route of PUBLIC_ROUTES) registerRoute(app, route, context)
  return app
}

describe('GET /', () => {
  it('lists what there is, with paths that answer', async () => {
    const app = appWith({ base: true, 'arbitrum-sepolia': true })
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'image/png' }]) {
      const answer = await app.inject({ url: '/', headers })
      assert.deepEqual([answer.statusCode, answer.headers.vary], [200, 'Accept'])
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    }
    const { chains, ...links } = (await app.inject('/')).json()
    assert.deepEqual(links, {
      name: 'Bezel',
      version: '1.0.0',
      docs: '/docs',
      llms: '/llms.txt',
      openapi: '/openapi.json',
      asyncapi: '/asyncapi.json',
      health: '/health',
      ready: '/ready',
      time: '/v1/time',
    })
    assert.deepEqual(chains[1], {
      chain: 'arbitrum-sepolia',
      chainId: 421614,
      testnet: true,
      info: '/v1/arbitrum-sepolia',
      markets: '/v1/arbitrum-sepolia/markets',
      prices: '/v1/arbitrum-sepolia/prices',
      stream: '/v1/arbitrum-sepolia/ws',
      facade: {
        info: '/hl/arbitrum-sepolia/info',
        exchange: '/hl/arbitrum-sepolia/exchange',
        stream: '/hl/arbitrum-sepolia/ws',
      },
    })
    assert.equal(chains.length, 2)
    for (const path of [links.health, links.ready, links.time, chains[0].info]) {
      assert.equal((await app.inject(path)).statusCode, 200, path)
    }
  })

  it('leaves it to the console what a browser gets', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await appWith({}).inject({ method, url: '/', headers })
      assert.deepEqual([answer.statusCode, answer.headers.location, answer.headers.vary], [302, '/home', 'Accept'])
    }
  })
})

describe('GET /health', () => {
  it('is ok whatever the chains do', async () => {
    const answer = await appWith({}).inject('/health')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), { status: 'ok', chains: ['base', 'arbitrum-sepolia'] })
  })
})

describe('GET /ready', () => {
  it('is 200 when every chain is ready', async () => {
    const answer = await appWith({ base: true, 'arbitrum-sepolia': true }).inject('/ready')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), {
      ready: true,
      chains: { base: { ready: true, relayer: false }, 'arbitrum-sepolia': { ready: true, relayer: false } },
    })
  })

  it('says which relayers send, and what is wrong with those that need somebody', async () => {
    const isReady = { base: true, 'arbitrum-sepolia': true }
    const relayers = {
      base: { isWorking: true, warning: undefined },
      'arbitrum-sepolia': { isWorking: true, warning: 'low' },
    }
    const answer = await appWith(isReady, relayers).inject('/ready')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json().chains, {
      base: { ready: true, relayer: true },
      'arbitrum-sepolia': { ready: true, relayer: true, relayerWarning: 'low' },
    })
  })

  it('is 503 in the same shape when one is not, and says why', async () => {
    const answer = await appWith({ base: true }).inject('/ready')
    assert.equal(answer.statusCode, 503)
    assert.deepEqual(answer.json(), {
      ready: false,
      chains: {
        base: { ready: true, relayer: false },
        'arbitrum-sepolia': { ready: false, reason: 'feed_stale', relayer: false },
      },
    })
  })
})

describe('GET /ready on a chain whose contracts changed', () => {
  it('names what is missing', async () => {
    const answer = await appWith({ base: true }, {}, { 'arbitrum-sepolia': 'It lacks openTrade.' }).inject('/ready')
    assert.equal(answer.json().chains['arbitrum-sepolia'].diamondWarning, 'It lacks openTrade.')
    assert.equal('diamondWarning' in answer.json().chains.base, false)
  })
})

describe('GET /ready of a chain with pairs that have no price', () => {
  it('names them, and stays ready', async () => {
    const isReady = { base: true, 'arbitrum-sepolia': true }
    const answer = await appWith(isReady, {}, {}, { base: ['AVAX/USD', 'BONK/USD'] }).inject('/ready')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json().chains, {
      base: { ready: true, marketsLeftOut: ['AVAX/USD', 'BONK/USD'], relayer: false },
      'arbitrum-sepolia': { ready: true, relayer: false },
    })
  })
})

describe('GET /ready of a chain that had other markets than its events told', () => {
  it('says which, and stays ready', async () => {
    const isReady = { base: true, 'arbitrum-sepolia': true }
    const marketsWarning = 'At block 7 the chain had other values than its events told.'
    const answer = await appWith(isReady, {}, {}, {}, { base: marketsWarning }).inject('/ready')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json().chains.base, { ready: true, marketsWarning, relayer: false })
  })
})

describe('GET /ready of a chain with a provider that is not well', () => {
  it('names it, and stays ready', async () => {
    const isReady = { base: true, 'arbitrum-sepolia': true }
    const providersWarning = 'Provider 2 (node.example) is not well (limited): it is asked too often.'
    const answer = await appWith(isReady, {}, {}, {}, {}, { base: providersWarning }).inject('/ready')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json().chains.base, { ready: true, providersWarning, relayer: false })
  })

  it('tells of a Redis that can not be used, and stays ready', async () => {
    const isReady = { base: true, 'arbitrum-sepolia': true }
    const redisWarning = "Redis can't be used (it does not answer): each node counts limits for itself."
    const answer = await appWith(isReady, {}, {}, {}, {}, {}, redisWarning).inject('/ready')
    assert.deepEqual([answer.statusCode, answer.json().ready, answer.json().redisWarning], [200, true, redisWarning])
    assert.equal('redisWarning' in (await appWith(isReady).inject('/ready')).json(), false)
  })
})

describe('GET /v1/time', () => {
  it('is the time of the service, whatever the chains do', async () => {
    const answer = await appWith({}).inject('/v1/time')
    assert.deepEqual([answer.statusCode, answer.json()], [200, { timestamp: 1_790_000_000_000 }])
  })

  it('is no chain', async () => {
    const answer = await appWith({}).inject('/v1/time/markets')
    assert.equal(answer.json<{ code: string }>().code, 'CHAIN_NOT_FOUND')
  })
})

describe('GET /v1/{chain}', () => {
  it('publishes what a client needs to sign', async () => {
    const answer = await appWith({}).inject('/v1/arbitrum-sepolia')
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), {
      chain: 'arbitrum-sepolia',
      chainId: 421614,
      diamond: '0xd659a15812064C79E189fd950A189b15c75d3186',
      relayer: null,
      testnet: true,
      knownSince: { block: 7, timestamp: null },
      signing: {
        domain: {
          name: 'Test API',
          version: '1',
          chainId: 421614,
          verifyingContract: '0xd659a15812064C79E189fd950A189b15c75d3186',
        },
        fields: [
          { name: 'method', type: 'string' },
          { name: 'path', type: 'string' },
          { name: 'bodyHash', type: 'bytes32' },
          { name: 'timestamp', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
        ],
        emptyBodyHash: '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
        types: {
          AgentAuthorization: [
            { name: 'agent', type: 'address' },
            { name: 'name', type: 'string' },
            { name: 'markets', type: 'string' },
            { name: 'maxLeverage', type: 'string' },
            { name: 'dailySpendCapUsd', type: 'string' },
            { name: 'expiresAt', type: 'uint256' },
            { name: 'permissions', type: 'string' },
            { name: 'timestamp', type: 'uint256' },
          ],
          AgentRevocation: [
            { name: 'agent', type: 'address' },
            { name: 'timestamp', type: 'uint256' },
          ],
          ApiKeyIssue: [
            { name: 'label', type: 'string' },
            { name: 'timestamp', type: 'uint256' },
          ],
        },
      },
    })
  })

  it('is CHAIN_NOT_FOUND for a chain that does not exist or is not served here', async () => {
    const app = appWith({})
    for (const chain of ['polygon', 'mars', 'BASE', '__proto__', 'constructor']) {
      const answer = await app.inject(`/v1/${chain}`)
      assert.equal(answer.statusCode, 404)
      const body = answer.json<{ code: string; details: unknown }>()
      assert.equal(body.code, 'CHAIN_NOT_FOUND')
      assert.deepEqual(ownDetails(body.details), { chains: ['base', 'arbitrum-sepolia'] })
    }
  })

  it('is NOT_FOUND with another method', async () => {
    const answer = await appWith({}).inject({ method: 'POST', url: '/v1/base' })
    assert.equal(answer.json<{ code: string }>().code, 'NOT_FOUND')
  })
})
