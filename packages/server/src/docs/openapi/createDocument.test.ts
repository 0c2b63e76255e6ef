import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ERRORS } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import fastify from 'fastify'
import { SIGNED_OPERATIONS } from '../../signatures/verifyRequest.ts'
import { defineRoute } from '../../http/route.ts'
import {
  registerFacadeRoutes,
  registerRoutes,
  ROUTES,
  type FacadeRoutesContext,
  type RouteContext,
} from '../../http/routes/registerRoutes.ts'
import { healthRoute } from '../../http/routes/system/health.ts'
import { createAnswerChecker } from './answerChecker.ts'
import { createDocument, referenceDocument, serveOpenapi } from './createDocument.ts'
import { resolveRef, type OpenapiDocument, type OpenapiOperation } from './openapiDocument.ts'

/** The expected operations: method, path, credentials, success statuses, and the error statuses that it must have. */
const INTERFACE = `
getIndex GET / - 200 302
health GET /health - 200
ready GET /ready - 200 503
getTime GET /v1/time - 200
getChainInfo GET /v1/{chain} - 200 404
listMarkets GET /v1/{chain}/markets - 200 304 404 503
getMarket GET /v1/{chain}/markets/{symbol} - 200 404 503
getOrderBook GET /v1/{chain}/markets/{symbol}/book - 200 400 404 503
getCandles GET /v1/{chain}/markets/{symbol}/candles - 200 304 400 404 502
getRecentTrades GET /v1/{chain}/markets/{symbol}/trades - 200 400 404 503
getFunding GET /v1/{chain}/markets/{symbol}/funding - 200 404 503
getPrices GET /v1/{chain}/prices - 200 404 503
getAccount GET /v1/{chain}/account/{address} sig|key 200 401 403 404 503
listPositions GET /v1/{chain}/account/{address}/positions sig|key 200 400 401 403 404 503
listOpenOrders GET /v1/{chain}/account/{address}/orders sig|key 200 400 401 403 404 503
listOrderHistory GET /v1/{chain}/account/{address}/orders/history sig|key 200 400 401 403 404
listFills GET /v1/{chain}/account/{address}/fills sig|key 200 400 401 403 404 502
listEvents GET /v1/{chain}/account/{address}/events sig|key 200 400 401 403 404 503
listAudit GET /v1/{chain}/account/{address}/audit sig|key 200 400 401 403 404
previewOrder GET /v1/{chain}/account/{address}/preview/order sig|key 200 400 401 403 404 422 502 503
previewClose GET /v1/{chain}/account/{address}/preview/close/{id} sig|key 200 400 401 403 404 422 502 503
previewPosition GET /v1/{chain}/account/{address}/preview/position/{id} sig|key 200 400 401 403 404 422 502 503
getOrder GET /v1/{chain}/orders/{id} sig|key 200 401 404
getOrderByClientId GET /v1/{chain}/orders sig|key 200 400 401 404
createOrder POST /v1/{chain}/orders sig 201 400 401 403 404 409 422 503
updateOrder PATCH /v1/{chain}/orders/{id} sig 200 400 401 403 404 409 422
cancelOrder DELETE /v1/{chain}/orders/{id} sig 200 401 403 404 409 422
cancelAllOrders DELETE /v1/{chain}/orders sig 200 400 401 403 404 409 422 503
submitOrder POST /v1/{chain}/orders/{id}/submit sig 200 400 401 403 404 422 503
getPosition GET /v1/{chain}/positions/{id} sig|key 200 401 404 503
closePosition POST /v1/{chain}/positions/{id}/close sig 200 400 401 403 404 422
updatePosition PATCH /v1/{chain}/positions/{id} sig 200 400 401 403 404 422
cancelPositionUpdate DELETE /v1/{chain}/positions/{id}/pending-update sig 200 401 403 404 409 422
closeAllPositions POST /v1/{chain}/positions/close-all sig 200 400 401 403 404 409 422 503
flatten POST /v1/{chain}/flatten sig 200 400 401 403 404 409 422 503
createAgent POST /v1/{chain}/agents - 201 400 401
getAgent GET /v1/{chain}/agents/{address} - 200 404
revokeAgent DELETE /v1/{chain}/agents/{address} - 200 400 401 404
issueApiKey POST /v1/{chain}/api-keys - 200 400 401
listApiKeys GET /v1/{chain}/api-keys sig 200 400 401 403 404
revokeApiKey DELETE /v1/{chain}/api-keys/{label} sig 200 400 401 403 404
listNotifications GET /api/notifications/{address} - 200 400 429 500
dismissNotification POST /api/notifications/{address}/dismiss sig|key 200 400 401 429 500
hlInfo POST /hl/{chain}/info - 200 404 422 429 502 503
hlExchange POST /hl/{chain}/exchange - 200 404 422 429 502 503
`
  .trim()
  .split('\n')
  .map((line) => {
    const [operationId = '', method = '', path = '', credentials = '', ...statuses] = line.split(' ')
    return { operationId, method, path, credentials, statuses }
  })

const SECURITY: Readonly<Record<string, unknown>> = {
  '-': undefined,
  sig: [{ AgentSignature: [] }],
  'sig|key': [{ AgentSignature: [] }, { ApiKey: [] }],
}

/** Routes outside the interface: those that describe it, and the one for operators. */
const OUTSIDE: ReadonlySet<string> = new Set(['/openapi.json', '/asyncapi.json', '/metrics'])

function operationsOf(document: OpenapiDocument): { path: string; method: string; operation: OpenapiOperation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  )
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refsIn(inner)))
}

function resolve(document: OpenapiDocument, ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
}

describe('the OpenAPI document', () => {
  const document = referenceDocument()
  const operations = operationsOf(document)

  it('is of version 3.1 and public unless an operation says otherwise', () => {
    assert.match(document.openapi, /^3\.1\./)
    assert.equal(document.info.version, '1.0.0')
    assert.deepEqual(document.security, [])
  })

  it('has each operation id once, and a route of the list for each', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids, [...new Set(ids)])
    assert.deepEqual(new Set(ids), new Set(ROUTES.map(({ operationId }) => operationId)))
  })

  it('has every route of the interface', () => {
    const app = fastify()
    const missing: string[] = []
    const ids = new Set(operations.map(({ operation }) => operation.operationId))
    app.addHook('onRoute', ({ url, schema }) => {
      const { operationId } = (schema ?? {}) as { operationId?: string }
      const isDocumented = operationId !== undefined && ids.has(operationId)
      if (!isDocumented && !OUTSIDE.has(url)) missing.push(url)
    })
    registerRoutes(app, {} as RouteContext)
    registerFacadeRoutes(app, {} as FacadeRoutesContext)
    assert.deepEqual(missing, [])
  })

  it('says of each operation what the interface says', () => {
    for (const { operationId, method, path, credentials, statuses } of INTERFACE) {
      const found = operations.find(({ operation }) => operation.operationId === operationId)
      assert.ok(found, `${operationId} is not registered`)
      assert.equal(`${found.method} ${found.path}`, `${method} ${path}`)
      assert.deepEqual(found.operation.security, SECURITY[credentials], operationId)
      for (const status of statuses) assert.ok(found.operation.responses[status], `${operationId} lacks ${status}`)
    }
    const known = new Set(INTERFACE.map(({ operationId }) => operationId))
    assert.deepEqual(new Set(ROUTES.map(({ operationId }) => operationId)), known)
  })

  it('lets exactly the signed operations be signed', () => {
    const signed = ROUTES.filter(({ access }) => ['read', 'write', 'owner', 'wallet', 'walletOrAgent'].includes(access))
    // The handshake of the stream is signed too, but is not a route.
    const names = new Set(['wsAuth', ...signed.map(({ operationId }) => operationId)])
    assert.deepEqual(names, new Set<string>(SIGNED_OPERATIONS))
  })

  it('names every parameter of a path, and a body exactly where there is one', () => {
    for (const { path, method, operation } of operations) {
      const written = (operation.parameters ?? []).map((one) => resolveRef(one, document.components.parameters))
      const named = written.filter((parameter) => parameter.in === 'path')
      assert.deepEqual(
        named.map(({ name, required }) => [name, required]),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]),
      )
      if (method === 'GET') assert.equal(operation.requestBody, undefined)
    }
  })

  it('says of everything that is created where it is', () => {
    const headers = operations.flatMap(({ operation: { responses } }) => {
      const answer = responses['201']
      return answer === undefined || '$ref' in answer ? [] : [answer.headers]
    })
    assert.equal(headers.length, 2)
    for (const one of headers) assert.deepEqual(one?.Location, { $ref: '#/components/headers/Location' })
  })

  it('has no reference that leads nowhere', () => {
    const refs = refsIn(document)
    assert.ok(refs.length > 100)
    for (const ref of refs) assert.notEqual(resolve(document, ref), undefined, ref)
  })

  it('has no schema of its own that nothing refers to', () => {
    const refs = new Set(refsIn(document))
    for (const name of Object.keys(document.components.schemas)) {
      assert.ok(refs.has(`#/components/schemas/${name}`), name)
    }
  })

  it('has schemas that compile, for every answer', () => {
    createAnswerChecker(document)
  })

  it('lists every code of the error table in its Error', () => {
    assert.deepEqual(document.components.schemas.Error?.properties?.code?.enum, Object.keys(ERRORS))
  })

  it('names headers with the prefix of the deployment', () => {
    const { securitySchemes, parameters } = createDocument(ROUTES, 'X-Other-').components
    assert.deepEqual(Object.keys(securitySchemes), ['AgentSignature', 'ApiKey'])
    assert.deepEqual(
      [...Object.values(securitySchemes), ...Object.values(parameters)].map(({ name }) => name),
      ['X-Other-Signature', 'X-Other-Api-Key', 'X-Other-Agent', 'X-Other-Timestamp', 'X-Other-Nonce', 'X-Other-Trader'],
    )
  })

  it('takes a route with a parameter it knows nothing of as it is', () => {
    const getNews = defineRoute({
      method: 'GET',
      path: '/v1/:chain/news/:topic',
      operationId: 'getNews',
      tag: 'System',
      access: 'public',
      summary: 'News',
      errors: [],
      query: { levels: { schema: Type.String(), description: '' } },
      responses: { 200: Type.Object({ a: Type.Literal(1) }) },
      handler: async () => ({ a: 1 }),
    })
    const news = createDocument([getNews], 'X-')
    assert.deepEqual(Object.keys(news.paths), ['/v1/{chain}/news/{topic}'])
    const { parameters = [] } = news.paths['/v1/{chain}/news/{topic}']?.get ?? {}
    assert.deepEqual(
      parameters.map((parameter) => resolveRef(parameter, {})).map(({ name, in: place }) => [name, place]),
      [
        ['chain', 'path'],
        ['topic', 'path'],
        ['levels', 'query'],
      ],
    )
  })
})

describe('GET /openapi.json', () => {
  it('is the document of its routes', async () => {
    const app = fastify()
    const route = { ...healthRoute, responses: { 200: Type.Object({ status: Type.Literal('ok') }) } }
    serveOpenapi(app, { headerPrefix: 'X-Test-', routes: [route] })
    const answer = await app.inject('/openapi.json')
    assert.equal(answer.statusCode, 200)
    assert.match(String(answer.headers['content-type']), /^application\/json/)
    const document = answer.json<OpenapiDocument>()
    assert.deepEqual(Object.keys(document.paths), ['/health'])
    assert.match(answer.body, /X-Test-Signature/)
    createAnswerChecker(document).assert('health', 200, { status: 'ok' })
  })
})
