import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OpenapiDocument, OpenapiOperation } from './openapiDocument.ts'
import { collectExamples, withExamples } from './withExamples.ts'
import type { Schema, Schemas } from './schemaDescriber.ts'

const $ref = '#/components/schemas/Thing'

const SCHEMAS: Schemas = {
  Thing: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string' },
      size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      inner: { anyOf: [{ $ref: '#/components/schemas/Inner' }, { type: 'null' }] },
    },
  },
  Inner: { type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } },
}

describe('examples of properties', () => {
  it('are the first values that are not null, at any depth', () => {
    const examples = collectExamples(SCHEMAS)
    examples.collect({ type: 'array', items: { $ref } }, [
      { id: '1', size: null, inner: null },
      { id: '2', size: 3, inner: { names: ['a'] } },
    ])
    const { Thing, Inner } = examples.addTo(SCHEMAS) as Record<string, (typeof SCHEMAS)[string]>
    assert.deepEqual(Thing!.properties!.id!.examples, ['1'])
    assert.deepEqual(Thing!.properties!.size!.examples, [3])
    assert.equal(Thing!.properties!.inner!.examples, undefined, 'its own properties have examples')
    assert.deepEqual(Inner!.properties!.names!.examples, [['a']])
    assert.equal(SCHEMAS.Thing!.properties!.id!.examples, undefined, 'the document itself stays')
  })

  it('are those of the choice that has the constants of the value', () => {
    const one: Schema = { properties: { kind: { const: 'one' }, a: { type: 'integer' } }, type: 'object' }
    const two: Schema = { properties: { kind: { enum: ['two', 'three'] }, a: { type: 'integer' } }, type: 'object' }
    const schema: Schema = { anyOf: [one, two] }
    const examples = collectExamples({})
    examples.collect(schema, { kind: 'three', a: 7 })
    const added = examples.addTo(schema).anyOf!.map(({ properties }) => properties?.a?.examples)
    assert.deepEqual(added, [undefined, [7]])
  })

  it('come from a record of any keys too', () => {
    const chain: Schema = { type: 'object', properties: { ready: { type: 'boolean' } } }
    const schema: Schema = { type: 'object', additionalProperties: chain }
    const examples = collectExamples({})
    examples.collect(schema, { base: { ready: true } })
    const { additionalProperties: added } = examples.addTo(schema)
    assert.deepEqual((added as Schema).properties?.ready?.examples, [true])
  })
})

describe('a document with a recording', () => {
  const operation: OpenapiOperation = {
    operationId: 'readThing',
    tags: [],
    summary: 'Reads a thing',
    parameters: [
      { name: 'id', in: 'path', schema: { type: 'string' } },
      { name: 'limit', in: 'query', schema: { type: 'integer' } },
      { name: 'cursor', in: 'query', schema: { type: 'string' } },
      { name: 'whole', in: 'query', schema: { type: 'boolean' } },
    ],
    responses: { 200: { description: '', content: { 'application/json': { schema: { $ref } } } } },
  }
  const document: OpenapiDocument = {
    openapi: '3.1.0',
    info: { title: '', version: '', description: '' },
    servers: [],
    security: [],
    tags: [],
    paths: { '/things/{id}': { get: operation } },
    components: { securitySchemes: {}, parameters: {}, headers: {}, responses: {}, schemas: SCHEMAS },
  }
  const calls = [
    { method: 'GET', path: '/things/a%2Fb?limit=2', status: 200, answer: { id: '1', size: null } },
    { method: 'GET', path: '/things/c?limit=5&cursor=x&whole=true', status: 200, answer: { id: '2', size: 3 } },
  ]

  it('shows the first call, and takes what that lacks from the others', () => {
    const { paths, components } = withExamples(document, { operations: { readThing: calls }, messages: {} })
    const { parameters = [], responses } = paths['/things/{id}']!.get!
    assert.deepEqual(
      parameters.map((one) => ('example' in one ? one.example : undefined)),
      ['a/b', 2, 'x', true],
    )
    const answer = responses[200] as { content: Record<string, { example?: unknown }> }
    assert.deepEqual(answer.content['application/json']!.example, { id: '1', size: null })
    assert.deepEqual(components.schemas.Thing!.properties!.size!.examples, [3])
  })

  it('is as it was without one', () => {
    assert.deepEqual(withExamples(document, { operations: {}, messages: {} }), document)
  })
})
