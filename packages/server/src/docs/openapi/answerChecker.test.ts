import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NO_CONTROLS } from '../../access/testing/noControls.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../http/createApp.ts'
import { registerRoute } from '../../http/hooks/registerRoute.ts'
import { PUBLIC_ROUTES, type PublicContext } from '../../http/routes/registerRoutes.ts'
import { createAnswerChecker } from './answerChecker.ts'
import { referenceDocument } from './createDocument.ts'

const checker = createAnswerChecker(referenceDocument())

const AGENT = {
  agent: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  trader: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  name: '',
  scope: { markets: ['BTC/USD'], maxLeverage: null, dailySpendCapUsd: '1000', expiresAt: null, permissions: 'trade' },
  mode: 'self',
  status: 'active',
  createdAt: 1_700_000_000_000,
}

const TRACE = { requestId: 'abc', docs: '/docs/errors#agent_not_found' }

describe('the answer checker', () => {
  it('finds nothing wrong with an answer as documented', () => {
    assert.deepEqual(checker.problems('getAgent', 200, { agent: AGENT, delegationTx: null }), [])
    assert.deepEqual(
      checker.problems('ready', 503, { ready: false, chains: { base: { ready: false, relayer: false } } }),
      [],
    )
    checker.assert('getAgent', 404, { code: 'AGENT_NOT_FOUND', message: 'no such agent', details: TRACE })
  })

  it('finds a missing field, a field too many, and a value of the wrong kind', () => {
    const { name: _name, ...nameless } = AGENT
    assert.match(checker.problems('getAgent', 200, { agent: nameless, delegationTx: null }).join(), /name/)
    assert.match(checker.problems('getAgent', 200, { agent: AGENT, delegationTx: null, more: 1 }).join(), /more/)
    const wrong = { ...AGENT, scope: { ...AGENT.scope, dailySpendCapUsd: '1e3' } }
    assert.match(checker.problems('getAgent', 200, { agent: wrong, delegationTx: null }).join(), /dailySpendCapUsd/)
    assert.notDeepEqual(
      checker.problems('getAgent', 200, { agent: { ...AGENT, status: 'gone' }, delegationTx: null }),
      [],
    )
  })

  it('finds a code that the operation or the status does not have', () => {
    const of = (code: string): readonly string[] =>
      checker.problems('getAgent', 404, { code, message: 'text', details: TRACE })
    assert.deepEqual(of('CHAIN_NOT_FOUND'), [])
    assert.notDeepEqual(of('ORDER_NOT_FOUND'), [])
    assert.notDeepEqual(of('VALIDATION_ERROR'), [])
    assert.notDeepEqual(of('NO_SUCH_CODE'), [])
    assert.notDeepEqual(checker.problems('getAgent', 404, { code: 'CHAIN_NOT_FOUND' }), [])
  })

  it('finds a status or an operation that is not documented', () => {
    assert.match(checker.problems('getAgent', 418, {}).join(), /418/)
    assert.match(checker.problems('noSuchOperation', 200, {}).join(), /noSuchOperation/)
    assert.throws(() => checker.assert('health', 200, { status: 'bad', chains: [] }), /against its schema.*"bad"/)
  })
})

describe('the routes that need no credentials', () => {
  const app = createApp('silent')
  const context: PublicContext = {
    chains: [testChain('base')],
    sendHome: (_request, reply) => reply.redirect('/home'),
    notReadyReason: () => 'starting',
    marketsLeftOut: () => [],
    redisWarning: () => undefined,
    marketsWarning: () => undefined,
    providersWarning: () => undefined,
    diamondWarning: () => undefined,
    markets: new Map(),
    domainName: 'Test API',
    relayerOf: () => null,
    knownSince: () => ({ block: 7, timestampMs: null }),
    controls: NO_CONTROLS,
    relayerState: () => undefined,
    now: Date.now,
  }
  for (const route of PUBLIC_ROUTES) registerRoute(app, route, context)

  for (const [operationId, url] of [
    ['getIndex', '/'],
    ['health', '/health'],
    ['ready', '/ready'],
    ['getTime', '/v1/time'],
    ['getChainInfo', '/v1/base'],
    ['getChainInfo', '/v1/mars'],
    ['getChainInfo', '/v1/%zz'],
    ['listMarkets', '/v1/mars/markets'],
    ['getMarket', '/v1/base/markets/BTC-USD'],
  ] as const) {
    it(`answer ${url} as documented`, async () => {
      const answer = await app.inject(url)
      checker.assert(operationId, answer.statusCode, answer.json())
    })
  }
})
