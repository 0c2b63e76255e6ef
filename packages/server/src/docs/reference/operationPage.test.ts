import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Deployment } from './deployment.ts'
import { referenceDocument } from '../openapi/createDocument.ts'
import { CLI_LINES, PYTHON_METHODS, SDK_CALLS } from './operationSnippets.ts'
import { operationPages } from './operationPage.ts'
import { neededCaller, operationViews } from './restPage.ts'

const SANDBOX: Deployment = {
  baseUrl: 'http://127.0.0.1:9090',
  isNamed: false,
  chains: [{ slug: 'polygon', diamond: '0x09bDa267Fd9db2a5586fed3870B758Ce4E5c60E2' }],
  isSandbox: true,
  headerPrefix: 'X-Service-',
}
const LIVE: Deployment = {
  baseUrl: 'https://bezel.example',
  isNamed: true,
  chains: [{ slug: 'base', diamond: undefined }],
  isSandbox: false,
  headerPrefix: 'X-Other-',
}

const document = referenceDocument()
const operations = operationViews(document)
const onSandbox = operationPages(document, SANDBOX)
const onLive = operationPages(document, LIVE)

const pageOf = (pages: typeof onLive, id: string) => pages.find(({ operationId }) => operationId === id)!

/** Returns the code of a page for a client. */
function codeOf(pages: typeof onLive, id: string, label: string): string {
  const fence = new RegExp(String.raw`^\x60{3}\w+ ${label}\n([\s\S]*?)\n\x60{3}$`, 'm')
  return fence.exec(pageOf(pages, id).markdown)?.[1] ?? ''
}

describe('the code of an operation', () => {
  it('is there for curl and Python always, and names the deployment', () => {
    for (const { operationId } of operations) {
      for (const label of ['curl', 'Python']) {
        const code = codeOf(onLive, operationId, label)
        assert.ok(code.includes('https://bezel.example'), `${operationId} ${label}: ${code}`)
        assert.doesNotMatch(
          code,
          /127\.0\.0\.1|arbitrum-sepolia|X-Service-|0x4BCA5Ce7|undefined/,
          `${operationId} ${label}`,
        )
      }
      assert.match(codeOf(onSandbox, operationId, 'curl'), /http:\/\/127\.0\.0\.1:9090\//, operationId)
    }
  })

  it('is there for the SDK and the command line wherever they have the operation', () => {
    const without = (label: string): string[] =>
      operations.map(({ operationId }) => operationId).filter((id) => codeOf(onLive, id, label) === '')
    // The facade is for programs of another exchange, which have clients of their own.
    assert.deepEqual(
      without('TypeScript').filter((id) => !id.startsWith('hl')),
      WITHOUT_SDK,
    )
    assert.deepEqual(
      without('CLI').filter((id) => !id.startsWith('hl')),
      WITHOUT_CLI,
    )
    const ids = new Set(operations.map(({ operationId }) => operationId))
    for (const table of [SDK_CALLS, PYTHON_METHODS, CLI_LINES]) {
      assert.deepEqual(
        Object.keys(table).filter((id) => !ids.has(id)),
        [],
      )
    }
  })

  it('sends a key with private reads and a signature with writes', () => {
    assert.match(codeOf(onLive, 'getAccount', 'curl'), /account\/\$TRADER" \\\n  -H "X-Other-Api-Key: \$API_KEY"$/)
    assert.match(codeOf(onSandbox, 'getAccount', 'curl'), /\/v1\/polygon\/account\/0x4BCA5Ce7\w+ \\\n/)
    assert.match(
      codeOf(onLive, 'createOrder', 'curl'),
      /node sign\.mjs createOrder POST \/v1\/base\/orders "\$BODY" \|/,
    )
    assert.match(
      codeOf(onLive, 'createOrder', 'TypeScript'),
      /headerPrefix: 'X-Other-',[\s\S]*sender: privateKeySender/,
    )
    assert.match(codeOf(onSandbox, 'createOrder', 'TypeScript'), /diamond: '0x09bD/)
    assert.match(
      codeOf(onLive, 'listFills', 'Python'),
      /api_key=os\.environ\["API_KEY"\][\s\S]*print\(client\.api\.list_fills\(\)\)/,
    )
  })
})

describe('the form of an operation', () => {
  const formOf = (pages: typeof onLive, id: string) => pageOf(pages, id).form

  it('is offered for every read that needs no more than a key, and for no write', () => {
    for (const operation of operations) {
      const { operationId, method } = operation
      const caller = neededCaller(operation, document.components.schemas)
      const form = formOf(onLive, operationId)
      const isRead = method === 'GET' || operationId === 'hlInfo'
      const isOffered = isRead && (caller === 'anybody' || caller === 'agentOrKey')
      assert.equal(form !== undefined, isOffered, operationId)
      assert.ok(form?.credentials.includes('agent-1') !== true, operationId)
      if (form !== undefined) assert.deepEqual(form.credentials, [caller === 'anybody' ? 'none' : 'key'], operationId)
    }
  })

  it('is offered on the sandbox for all that an agent may do, and never for what the trader signs', () => {
    assert.deepEqual(formOf(onSandbox, 'getAccount')?.credentials, ['agent-1', 'key'])
    for (const id of ['createOrder', 'cancelAllOrders', 'flatten', 'updatePosition', 'listApiKeys']) {
      assert.deepEqual(formOf(onSandbox, id)?.credentials, ['agent-1'], id)
    }
    for (const id of ['createAgent', 'revokeAgent', 'issueApiKey', 'revokeApiKey', 'hlExchange']) {
      assert.equal(formOf(onSandbox, id), undefined, id)
    }
  })

  it('begins with values that work, and with nobody else’s address', () => {
    const fieldsOf = (pages: typeof onLive, id: string) =>
      Object.fromEntries(formOf(pages, id)!.fields.map(({ name, value }) => [name, value]))
    assert.deepEqual(fieldsOf(onLive, 'getMarket'), { chain: 'base', symbol: 'BTC-USD' })
    assert.equal(fieldsOf(onLive, 'getAccount').address, '')
    assert.equal(fieldsOf(onSandbox, 'getAccount').address, '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93')
    assert.equal(fieldsOf(onLive, 'getCandles').from, '')
    const interval = formOf(onLive, 'getCandles')!.fields.find(({ name }) => name === 'interval')!
    assert.ok(interval.choices!.includes('5m'))
    assert.deepEqual(JSON.parse(formOf(onLive, 'hlInfo')!.body!), { type: 'meta' })
  })
})

const WITHOUT_SDK: readonly string[] = []

const WITHOUT_CLI: readonly string[] = [
  'getIndex',
  'health',
  'ready',
  'getTime',
  'getChainInfo',
  'getRecentTrades',
  'getOrder',
  'getOrderByClientId',
  'submitOrder',
  'getPosition',
]
