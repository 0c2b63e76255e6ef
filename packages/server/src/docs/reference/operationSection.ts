import { table } from '../markdown/table.ts'
import { boundsText } from './boundsText.ts'
import { callerOf, type Caller } from './callerOf.ts'
import { exampleOf } from './exampleOf.ts'
import { fieldTable } from './fieldTable.ts'
import { jsonBlock } from './jsonBlock.ts'
import { notesText } from './notesText.ts'
import type { OpenapiView, OperationView } from './openapiView.ts'
import { refName } from './refName.ts'
import type { Schema, Schemas } from './schema.ts'
import { typeText } from './typeText.ts'

/** One operation of the REST reference: what to send, what comes back, what can go wrong. */
export function operationSection(operation: OperationView, view: OpenapiView): string {
  const { operationId, method, path, summary } = operation
  return [
    `### ${operationId}`,
    `\`${method} ${path}\``,
    `${summary}.`,
    accessText(operation, view),
    parameterTable(operation),
    callerOf(operation, view) === 'anybody' ? curlBlock(operation) : '',
    bodyText(operation, view.schemas),
    ...answerTexts(operation, view.schemas),
    errorTable(operation),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function accessText(operation: OperationView, view: OpenapiView): string {
  const signed = 'the [signature of an agent](../signing.md), in four headers'
  const texts: Readonly<Record<Caller, string>> = {
    anybody: 'Open to everybody.',
    agent: `**Needs** ${signed}.`,
    agentOrKey: `**Needs** ${signed}; or a read-only key in \`${view.schemes.ApiKey?.name}\`.`,
    envelope: '**Needs** a signature inside the body, as the [facade](../facade.md) has it.',
    trader: "**Needs** the [trader's own signature](../signing.md#signatures-of-the-trader), in the body.",
  }
  return texts[callerOf(operation, view)]
}

/** What stands in the place of parameters; a request that needs others is not shown. */
const PLACES: Readonly<Record<string, string>> = { '{chain}': 'arbitrum-sepolia', '{symbol}': 'BTC-USD' }

/** A read that can be tried as it is, against the local chain. */
function curlBlock({ method, path }: OperationView): string {
  const filled = path.replaceAll(/\{\w+\}/g, (place) => PLACES[place] ?? place)
  if (method !== 'GET' || filled.includes('{')) return ''
  return `\`\`\`sh\ncurl -s http://127.0.0.1:8080${filled}\n\`\`\``
}

/** Those of the path and the query: the headers of a signature are the same everywhere. */
function parameterTable({ parameters }: OperationView): string {
  const own = parameters.filter(({ in: place }) => place !== 'header')
  const rows = own.map(({ name, in: place, description = '', required, schema }) => [
    `\`${name}\``,
    place,
    typeText(schema, ''),
    notesText([required === true ? '' : 'optional', description, boundsText(schema)]),
  ])
  return table(['Parameter', 'In', 'Type', ''], rows)
}

function bodyText({ body }: OperationView, schemas: Schemas): string {
  if (body === undefined) return ''
  const { required, schema } = body
  return [
    `**Body**${required ? '' : ' (may be left out)'}: ${shapeText(schema)}`,
    fieldTable(schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? {}), ''),
    jsonBlock(exampleOf(schema, schemas)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** What the operation answers in a shape of its own; the errors have one shape for all. */
function answerTexts({ answers }: OperationView, schemas: Schemas): string[] {
  const own = Object.entries(answers).flatMap(([status, { content }]) => {
    const schema = content['application/json']?.schema
    return schema === undefined || isError(schema) ? [] : [{ status, schema, key: JSON.stringify(schema) }]
  })
  const byShape = Map.groupBy(own, ({ key }) => key)
  return [...byShape.values()].map((same) => {
    const { schema } = same[0]!
    const statuses = same.map(({ status }) => status).join(', ')
    return [
      `**Answer** ${statuses}: ${shapeText(schema)}`,
      schema.$ref === undefined ? fieldTable(schema, '') : '',
      isFree(schema) ? '' : jsonBlock(exampleOf(schema, schemas)),
    ]
      .filter((part) => part !== '')
      .join('\n\n')
  })
}

function isError(schema: Schema & { readonly allOf?: readonly Schema[] }): boolean {
  return schema.allOf?.some(({ $ref }) => $ref?.endsWith('/Error')) ?? false
}

/** A schema that takes anything: there is no one example of it. */
function isFree({ $ref, type, anyOf }: Schema): boolean {
  return $ref === undefined && type === undefined && anyOf === undefined
}

function shapeText(schema: Schema): string {
  if (isFree(schema)) return schema.description ?? 'anything'
  return typeText(schema, '')
}

/** The codes of each status, each a link to what it means; where the refusal is plain text, what it says. */
function errorTable({ answers }: OperationView): string {
  const rows = Object.entries(answers).flatMap(([status, { description, content }]) => {
    const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(content)
    if (type === 'text/plain') return [[status, `${description} (plain text)`]]
    if (!isError(schema)) return []
    const codes = schema.allOf?.flatMap(({ properties }) => properties?.code?.enum ?? []) ?? []
    return [[status, codes.map((code) => errorLink(String(code))).join(', ')]]
  })
  return table(['HTTP', 'Errors'], rows)
}

function errorLink(code: string): string {
  return `[\`${code}\`](errors.md#${code.toLowerCase()})`
}
