import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { referenceDocument } from '../../packages/server/src/docs/openapi/createDocument.ts'
import { parseCollection } from './parseCollection.ts'
import { requestCollection } from './requestCollection.ts'

describe('the collection of requests', () => {
  const document = referenceDocument()
  const text = requestCollection(document)['clients/http/bezel.http']!
  const requests = parseCollection(text)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )

  it('has every operation once, with its method, its path and the body of the recorded run', () => {
    assert.equal(requests.length, operations.length)
    for (const { operationId, method, path, requestBody } of operations) {
      const request = requests.find(({ name }) => name === operationId)
      assert.equal(request?.method, method, operationId)
      assert.match(new URL(request!.url).pathname, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/{}]+')}$`))
      const example = requestBody?.content['application/json']?.example
      assert.deepEqual(request!.body === undefined ? undefined : JSON.parse(request!.body), example, operationId)
    }
  })

  it('has a recorded body for every operation that needs one', () => {
    const bare = operations.filter(({ requestBody }) => requestBody?.required === true)
    assert.deepEqual(
      bare.filter(({ operationId }) => requests.find(({ name }) => name === operationId)!.body === undefined),
      [],
    )
  })

  it('has the required parameters in its requests, with values', () => {
    const preview = new URL(requests.find(({ name }) => name === 'previewOrder')!.url)
    assert.deepEqual([...preview.searchParams.keys()], ['market', 'side', 'type', 'size', 'leverage'])
    for (const { url } of requests) assert.doesNotMatch(url, /=(?:&|$)/)
  })

  it('takes other values for its variables, and names one that is missing', () => {
    const [request] = parseCollection(text, { host: 'https://service.example' })
    assert.match(request!.url, /^https:\/\/service\.example\//)
    assert.throws(() => parseCollection('###\n# @name a\nGET {{place}}/x\n'), /no variable place/)
    assert.throws(() => parseCollection('###\nGET http://x/y\n'), /no request/)
  })
})
