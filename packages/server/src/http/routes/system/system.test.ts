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
): ReturnType<typeof createApp> {
  const app = createApp('silent')
  const context: PublicContext = {
    chains: [testChain('base'), testChain('arbitrum-sepolia')],
    notReadyReason: (slug) => (ready[slug] ? undefined : 'feed_stale'),
    markets: new Map(),
    domainName: 'Test API',
    relayerOf: () => null,
    controls: NO_CONTROLS,
    relayerState: (slug) => relayers[slug],
  }
  for (const route of PUBLIC_ROUTES) registerRoute(app, route, context)
  return app
}

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
