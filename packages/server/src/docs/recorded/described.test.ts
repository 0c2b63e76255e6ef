import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createStreamDocument } from '../asyncapi/createStreamDocument.ts'
import { referenceDocument } from '../openapi/createDocument.ts'
import { refName, resolveRef } from '../openapi/openapiDocument.ts'
import type { Schema, Schemas } from '../openapi/schemaDescriber.ts'

/** A property of a schema, with its place in words. */
interface Property {
  readonly place: string
  readonly schema: Schema
}

/** Lists the properties of a schema at any depth, without following references. */
function propertiesOf(schema: Schema | undefined, place: string): Property[] {
  if (schema === undefined) return []
  const { properties = {}, items, anyOf = [], additionalProperties } = schema
  const own = Object.entries(properties).map(([name, one]) => ({ place: `${place}.${name}`, schema: one }))
  const inner = [items, ...anyOf, typeof additionalProperties === 'object' ? additionalProperties : undefined]
  return [
    ...own,
    ...own.flatMap((one) => propertiesOf(one.schema, one.place)),
    ...inner.flatMap((one) => propertiesOf(one, place)),
  ]
}

/** Returns true when a schema consists of properties, which have meanings and examples of their own. */
function hasProperties(schema: Schema, schemas: Schemas): boolean {
  const { properties, items, anyOf = [], allOf = [], additionalProperties } = resolveRef(schema, schemas)
  const inner = [...anyOf, ...allOf, ...(items === undefined ? [] : [items])]
  if (typeof additionalProperties === 'object') inner.push(additionalProperties)
  return properties !== undefined || inner.some((one) => hasProperties(one, schemas))
}

function placesOf(properties: readonly Property[], isWrong: (schema: Schema) => boolean): string[] {
  return properties.filter(({ schema }) => isWrong(schema)).map(({ place }) => place)
}

const document = referenceDocument()
const stream = createStreamDocument({ headerPrefix: 'X-Service-' })
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
const inRest = [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) => propertiesOf(schema, name)),
  ...operations.flatMap(({ operationId, requestBody, responses }) => [
    ...propertiesOf(requestBody?.content['application/json']?.schema, `${operationId} body`),
    ...Object.entries(responses).flatMap(([status, answer]) =>
      '$ref' in answer ? [] : propertiesOf(answer.content['application/json']?.schema, `${operationId} ${status}`),
    ),
  ]),
]
const inStream = [
  ...Object.entries(stream.components.schemas).flatMap(([name, schema]) => propertiesOf(schema, name)),
  ...Object.entries(stream.components.messages).flatMap(([id, { payload }]) => propertiesOf(payload, id)),
]

describe('every field of the interface', () => {
  it('says what it means', () => {
    assert.ok(inRest.length > 300 && inStream.length > 150)
    assert.deepEqual(
      placesOf([...inRest, ...inStream], ({ description }) => (description ?? '').length < 10),
      [],
    )
  })

  it('has an example', () => {
    for (const [properties, { schemas }] of [
      [inRest, document.components],
      [inStream, stream.components],
    ] as const) {
      const lacking = placesOf(properties, (schema) => schema.examples === undefined && !hasProperties(schema, schemas))
      assert.deepEqual(lacking, [])
    }
  })

  it('has a meaning that reads like a sentence', () => {
    const isOdd = ({ description = '' }: Schema): boolean =>
      !/^[A-Z`0-9].*[.]$/s.test(description) || /\b(?:What|Whether|Whose)\b/.test(description.split(' ')[0]!)
    assert.deepEqual(placesOf([...inRest, ...inStream], isOdd), [])
  })
})

describe('every named schema', () => {
  it('says what it is', () => {
    for (const [name, schema] of Object.entries({ ...document.components.schemas, ...stream.components.schemas })) {
      assert.ok((schema.description ?? '').length > 10, name)
    }
  })
})

describe('every operation', () => {
  it('says what it does, when it fails and what to do next, with an example of its body and its answer', () => {
    for (const { operationId, description = '', requestBody, responses } of operations) {
      assert.ok(description.length > 40, operationId)
      const body = requestBody?.content['application/json']
      assert.ok(body === undefined || body.example !== undefined, `${operationId} has no body`)
      const answers = Object.values(responses).flatMap((answer) => ('$ref' in answer ? [] : [answer]))
      assert.ok(
        answers.some(({ content }) => content['application/json']?.example !== undefined),
        `${operationId} has no answer`,
      )
      const refs = Object.values(responses).flatMap((answer) => ('$ref' in answer ? [refName(answer.$ref)] : []))
      for (const name of refs) assert.ok(document.components.responses[name]!.description.length > 20, name)
    }
  })

  it('says of each parameter what it means, with an example', () => {
    for (const { operationId, parameters = [] } of operations) {
      for (const one of parameters.map((parameter) => resolveRef(parameter, document.components.parameters))) {
        assert.ok((one.description ?? '').length > 10, `${operationId} ${one.name}`)
        const hasExample = one.example !== undefined || one.schema.examples !== undefined
        assert.ok(hasExample || one.in === 'header', `${operationId} ${one.name} has no example`)
      }
    }
  })
})
