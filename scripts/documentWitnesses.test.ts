import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { validate } from '@hyperjump/json-schema/openapi-3-1'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'

// Programs and schemas of people who have nothing to do with this project judge the documents that it publishes.

/** Judge of a document. Returns the faults that it finds. */
type Judge = (text: string) => Promise<unknown>

const NO_FAULT: readonly string[] = []

const byItsSchema = new Validator()

const OPENAPI_JUDGES: Readonly<Record<string, Judge>> = {
  '@seriousme/openapi-schema-validator': async (text) => {
    const { valid, errors } = await byItsSchema.validate(JSON.parse(text))
    return valid ? NO_FAULT : errors
  },
  '@hyperjump/json-schema': async (text) => {
    const schema = 'https://spec.openapis.org/oas/3.1/schema-base'
    const output = await validate(schema, JSON.parse(text), 'BASIC')
    return output.valid ? NO_FAULT : output
  },
  '@apidevtools/swagger-parser': async (text) => {
    try {
      await SwaggerParser.validate(JSON.parse(text))
      return NO_FAULT
    } catch (error) {
      return [String(error)]
    }
  },
}

/** A document that is right, and parts that make it wrong. */
const SMALL = {
  openapi: '3.1.0',
  info: { title: 'small', version: '1' },
  paths: { '/health': { get: { responses: { 200: { description: 'A sign of life.' } } } } },
}
const FAULTS: readonly object[] = [
  { info: { title: 'without a version' } },
  { paths: { '/health': { get: { responses: { 200: {} } } } } },
  { components: { securitySchemes: { ApiKey: { type: 'apiKey', in: 'body', name: 'key' } } } },
  { components: { parameters: { Chain: { name: 'chain', in: 'nowhere', schema: {} } } } },
]

const read = (name: string): string => readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8')

describe('openapi.json', () => {
  const text = read('openapi.json')
  for (const [name, judge] of Object.entries(OPENAPI_JUDGES)) {
    it(`has no fault for ${name}`, async () => {
      assert.deepEqual(await judge(text), NO_FAULT)
    })

    it(`would have faults that ${name} finds`, async () => {
      assert.deepEqual(await judge(JSON.stringify(SMALL)), NO_FAULT)
      for (const planted of FAULTS) assert.notDeepEqual(await judge(JSON.stringify({ ...SMALL, ...planted })), NO_FAULT)
    })
  }
})

describe('asyncapi.json', () => {
  const text = read('asyncapi.json')
  const { asyncapi } = JSON.parse(text) as { readonly asyncapi: string }
  const schema: object = createRequire(import.meta.url)(`@asyncapi/specs/schemas/${asyncapi}-without-$id.json`)
  const isValid = new Ajv({ strict: false, validateFormats: false, logger: false }).compile(schema)

  it('has no fault for the schema of @asyncapi/specs', () => {
    assert.ok(isValid(JSON.parse(text)), JSON.stringify(isValid.errors))
  })

  it('would have faults that it finds', () => {
    const faults = [
      changed(text, (document) => (document.channels = [1])),
      changed(text, (document) => delete document.info.title),
      changed(text, (document) => (Object.values<{ action: string }>(document.operations)[0]!.action = 'shout')),
    ]
    for (const planted of faults) assert.equal(isValid(JSON.parse(planted)), false)
  })
})

// oxlint-disable-next-line typescript/no-explicit-any -- a test breaks whatever it likes
function changed(text: string, change: (document: any) => void): string {
  const document = JSON.parse(text)
  change(document)
  return JSON.stringify(document)
}
