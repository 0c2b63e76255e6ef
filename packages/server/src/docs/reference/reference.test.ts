import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DATA_MESSAGES } from '@bezel/protocol'
import { createStreamDocument } from '../asyncapi/createStreamDocument.ts'
import type { OpenapiDocument } from '../openapi/openapiDocument.ts'
import { referenceDocument } from '../openapi/createDocument.ts'
import { ORDER_TRANSITIONS } from '../../trading/orders/orderTransitions.ts'
import { fieldTable } from './schemaText.ts'
import { lifecycleDiagram, ARROW_ROUTES, USUAL_WAYS } from './lifecycleDiagram.ts'
import { lifecycleMoves, lifecyclePage } from './lifecyclePage.ts'
import { messagesPage } from './messagesPage.ts'
import { operationViews, restPage } from './restPage.ts'

const document = referenceDocument()

const operations = operationViews(document)

const { schemas } = document.components

const page = restPage(document)

/** Returns the part of a page below a heading. */
function sectionOf(text: string, heading: string): string {
  const [, after = ''] = text.split(`\n### ${heading}\n`)
  return after.split(/\n#{2,3} /)[0]!
}

describe('the REST page', () => {
  it('tells every operation with its request, parameters, and every code it answers with', () => {
    assert.ok(operations.length >= 30)
    for (const { operationId, method, path, parameters, answers } of operations) {
      const section = sectionOf(page, operationId)
      assert.ok(section.includes(`\`${method} ${path}\``), operationId)
      for (const { name, in: place } of parameters) {
        assert.equal(section.includes(`| \`${name}\` | ${place} |`), place !== 'header', `${operationId} ${name}`)
      }
      for (const { content } of Object.values(answers)) {
        const codes =
          content['application/json']?.schema.allOf?.flatMap(({ properties }) => properties?.code?.enum ?? []) ?? []
        for (const code of codes)
          assert.ok(section.includes(`(errors.md#${String(code).toLowerCase()})`), `${operationId} ${code}`)
      }
    }
  })

  it('says who may call: anybody, an agent, a key, or the trader', () => {
    assert.match(sectionOf(page, 'getMarket'), /^Open to everybody\.$/m)
    assert.match(
      sectionOf(page, 'createOrder'),
      /^\*\*Needs\*\* the \[signature of an agent\]\(\.\.\/signing\.md\), in four headers\.$/m,
    )
    assert.match(sectionOf(page, 'getAccount'), /or a read-only key in `X-Service-Api-Key`/)
    assert.match(sectionOf(page, 'createAgent'), /trader's own signature/)
    assert.match(sectionOf(page, 'hlExchange'), /a signature inside the body/)
    assert.match(sectionOf(page, 'hlInfo'), /^Open to everybody\.$/m)
    assert.match(restPage(withPrefix('X-Other-')), /or a read-only key in `X-Other-Api-Key`/)
  })

  it('tells every schema with all its fields', () => {
    for (const [name, { properties = {} }] of Object.entries(schemas)) {
      const section = sectionOf(page, `Schema: ${name}`)
      assert.notEqual(section.trim(), '', name)
      for (const field of Object.keys(properties)) assert.ok(section.includes(`| \`${field}\` |`), `${name}.${field}`)
    }
  })

  it('shows the recorded body and answer of an operation, and the example of a field', () => {
    const section = sectionOf(page, 'createOrder')
    assert.match(section, /"clientId": "first-1"/)
    assert.match(section, /"status": "prepared"/)
    assert.match(section, /^\| `slippage` \| .*Default 1\..*Example `0\.5`\. \|$/m)
  })

  it('lets no description break out of its cell', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', description: 'x | <b>y</b>\n\n| z |', pattern: '^a|b$' } },
    }
    const rows = fieldTable(schema, '').split('\n')
    assert.equal(rows.length, 3)
    assert.equal(rows[2]!.split(/(?<!\\)\|/).length, 5)
    assert.ok(!rows[2]!.includes('<b>'))
  })
})

function withPrefix(prefix: string): OpenapiDocument {
  return JSON.parse(JSON.stringify(document).replaceAll('X-Service-', prefix)) as OpenapiDocument
}

describe('the page of messages', () => {
  const asyncapi = createStreamDocument({ headerPrefix: 'X-Service-' })
  const messages = messagesPage(asyncapi)

  it('tells every channel, operation and message, each with examples', () => {
    for (const [id, { address }] of Object.entries(asyncapi.channels as Record<string, { address: string }>)) {
      assert.ok(messages.includes(`| \`${id}\` | \`WS ${address}\` |`), id)
    }
    for (const operation of Object.keys(asyncapi.operations))
      assert.ok(messages.includes(`| \`${operation}\` |`), operation)
    for (const id of Object.keys(asyncapi.components.messages as object)) {
      assert.match(sectionOf(messages, id), /```json\n\{/, id)
    }
    for (const channel of Object.keys(DATA_MESSAGES)) assert.ok(messages.includes(`"channel":"${channel}"`), channel)
  })
})

describe('the order lifecycle', () => {
  const svg = lifecycleDiagram()

  it('draws every move of the table of transitions once, and no other', () => {
    const expected = Object.entries(ORDER_TRANSITIONS).flatMap(([from, next]) =>
      [...new Set(Object.values(next))].map((to) => `${from} ${to}`),
    )
    const drawn = [...svg.matchAll(/data-move="([^"]+)"/g)].map(([, move]) => move!)
    assert.deepEqual(drawn.toSorted(), expected.toSorted())
    assert.ok(expected.length > 20)
  })

  it('has a box for each status, and lays out no move that is gone', () => {
    for (const status of Object.keys(ORDER_TRANSITIONS).filter((name) => name !== 'absent')) {
      assert.ok(svg.includes(`<g class="status ${status}">`), status)
    }
    const moves = new Set(lifecycleMoves().map(({ from, to }) => `${from} ${to}`))
    for (const move of [...Object.keys(ARROW_ROUTES), ...USUAL_WAYS]) assert.ok(moves.has(move), move)
  })

  it('has neither style nor script inside, for pages that allow none', () => {
    assert.doesNotMatch(svg, /<style|style=|<script|\son\w+=/)
  })

  it('lists every move in words', () => {
    const rows = lifecyclePage()
      .split('\n')
      .filter((line) => /^\| (?:`\w+`|not known before) \|/.test(line))
    assert.equal(rows.length, lifecycleMoves().length)
  })
})
