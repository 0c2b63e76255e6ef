import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAIN_SLUGS, CLIENT_MESSAGES, CLOSE_CODES, CONTROL_MESSAGES, DATA_MESSAGES } from '@bezel/protocol'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Ajv } from 'ajv'
import fastify from 'fastify'
import { CLIENT_SUMMARIES, CONTROL_SUMMARIES, DATA_SUMMARIES } from './streamMessages.ts'
import { createStreamDocument, type AsyncapiDocument, serveAsyncapi } from './createStreamDocument.ts'
import { ASYNCAPI_RULES } from './testing/asyncapiRules.ts'

const TABLES: readonly [string, Record<string, TSchema>, Record<string, string>][] = [
  ['client', CLIENT_MESSAGES, CLIENT_SUMMARIES],
  ['control', CONTROL_MESSAGES, CONTROL_SUMMARIES],
  ['data', DATA_MESSAGES, DATA_SUMMARIES],
]

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [String(inner)] : refsIn(inner)))
}

function resolve(document: AsyncapiDocument, ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
}

describe('the AsyncAPI document', () => {
  const document = createStreamDocument({ headerPrefix: 'X-Service-' })
  const { messages } = document.components
  const { operations } = document

  it('has what AsyncAPI 3.0 asks for, and nothing it does not know', () => {
    const validate = new Ajv({ allErrors: true, strict: false }).compile(ASYNCAPI_RULES)
    assert.ok(validate(document), JSON.stringify(validate.errors))
  })

  it('has no reference that leads nowhere, and no schema or message that nothing refers to', () => {
    const refs = new Set(refsIn(document))
    assert.ok(refs.size > 50)
    for (const ref of refs) assert.notEqual(resolve(document, ref), undefined, ref)
    for (const kind of ['schemas', 'messages', 'securitySchemes'] as const) {
      for (const name of Object.keys(document.components[kind])) {
        assert.ok(refs.has(`#/components/${kind}/${name}`), `${kind} ${name}`)
      }
    }
  })

  it('has each message of the protocol', () => {
    const count = TABLES.reduce((sum, [, schemas]) => sum + Object.keys(schemas).length, 0)
    assert.equal(Object.keys(messages).length, count)
    for (const [id, { name }] of Object.entries(messages)) assert.equal(name, id)
    for (const id of ['clientSubscribeLog', 'clientPing', 'controlPing', 'dataOrders']) assert.ok(messages[id], id)
  })

  it('has each message in an operation of its direction', () => {
    const idsOf = (refs: readonly { readonly $ref: string }[] = []) => refs.map(({ $ref }) => $ref.split('/').at(-1)!)
    const told = new Map<string, Set<string>>([
      ['receive', new Set()],
      ['send', new Set()],
    ])
    for (const { action, messages: own, reply } of Object.values(operations)) {
      for (const id of idsOf(own)) told.get(action)!.add(id)
      for (const id of idsOf(reply?.messages)) told.get('send')!.add(id)
    }
    const ids = Object.keys(messages)
    assert.deepEqual(told.get('receive'), new Set(ids.filter((id) => id.startsWith('client'))))
    assert.deepEqual(told.get('send'), new Set(ids.filter((id) => !id.startsWith('client'))))
  })

  it('has examples that the schemas of the protocol accept', () => {
    for (const [kind, schemas, summaries] of TABLES) {
      assert.deepEqual(Object.keys(summaries), Object.keys(schemas))
      for (const [name, schema] of Object.entries(schemas)) {
        const { examples } = messages[kind + name.charAt(0).toUpperCase() + name.slice(1)]!
        assert.ok(examples.length > 0, name)
        for (const { payload } of examples) assert.deepEqual([...Value.Errors(schema, payload)], [], name)
      }
    }
  })

  it('has examples that its own schemas accept, and that no other message is', () => {
    const ajv = new Ajv({ strict: false })
    const validators = Object.entries(messages).map(([id, { payload }]) => ({
      id,
      validate: ajv.compile({ ...payload, components: document.components }),
    }))
    for (const [id, { examples }] of Object.entries(messages)) {
      const [side] = /^(?:client|control|data)/.exec(id)!
      for (const { payload } of examples) {
        const accepting = validators.filter(({ validate }) => validate(payload)).map((found) => found.id)
        assert.deepEqual(
          accepting.filter((other) => other.startsWith(side)),
          [id],
          JSON.stringify(payload),
        )
      }
    }
  })

  it('asks for credentials where they are needed', () => {
    const isPrivate = Object.entries(operations).flatMap(([name, { security }]) =>
      security === undefined ? [] : [name],
    )
    assert.deepEqual(isPrivate, ['subscribeAccount', 'sendAccountEvents'])
    const schemes = createStreamDocument({ headerPrefix: 'X-Other-' }).components.securitySchemes
    assert.deepEqual(
      Object.values(schemes).map(({ name }) => name),
      ['X-Other-Signature', 'X-Other-Api-Key'],
    )
  })

  it('is of the address of the stream, on every chain', () => {
    const { address, parameters } = document.channels.stream!
    assert.equal(address, '/v1/{chain}/ws')
    assert.deepEqual(parameters.chain.enum, CHAIN_SLUGS)
  })

  it('tells close codes and limits', () => {
    const text = String(document.info.description)
    for (const code of Object.values(CLOSE_CODES)) assert.match(text, new RegExp(`^- ${code}: `, 'm'))
    const bounds = { maxSubscriptions: 77, maxMessageBytes: 1_234, idleMs: 99_000 }
    const other = String(createStreamDocument({ headerPrefix: 'X-', bounds }).info.description)
    assert.match(other, /77 subscriptions.*1234 bytes[\s\S]*99 s/)
  })

  it('has nothing beside a reference, where JSON Schema draft 7 would ignore it', () => {
    const lonely = (node: unknown): boolean =>
      typeof node !== 'object' ||
      node === null ||
      ((!('$ref' in node) || Object.keys(node).length === 1) && Object.values(node).every(lonely))
    assert.ok(lonely(document))
  })

  it('takes no seq for a time', () => {
    const { seq, timestamp } = messages.dataOrders!.payload.properties!
    assert.deepEqual(seq!.allOf, [{ $ref: '#/components/schemas/Seq' }])
    assert.deepEqual(timestamp!.allOf, [{ $ref: '#/components/schemas/Timestamp' }])
  })
})

describe('GET /asyncapi.json', () => {
  it('is the document of the deployment', async () => {
    const app = fastify()
    serveAsyncapi(app, { headerPrefix: 'X-Test-' })
    const answer = await app.inject('/asyncapi.json')
    assert.equal(answer.statusCode, 200)
    assert.match(String(answer.headers['content-type']), /^application\/json/)
    assert.deepEqual(answer.json(), JSON.parse(JSON.stringify(createStreamDocument({ headerPrefix: 'X-Test-' }))))
  })
})
