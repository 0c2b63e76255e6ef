import {
  refName,
  type OpenapiComponents,
  type OpenapiDocument,
  type OpenapiTag,
  resolveRef,
  type OpenapiAnswer,
  type OpenapiParameter,
} from '../openapi/openapiDocument.ts'
import { table } from '../markdown/writeMarkdown.ts'
import { boundsText, fieldNotes, fieldTable, notesText, typeText } from './schemaText.ts'
import type { Schema, Schemas } from '../openapi/schemaDescriber.ts'

/**
 * Returns docs/reference/rest.md: every operation and every schema of the document. `pageOf` leads to the page of one
 * operation, where there is one.
 */
export function restPage(document: OpenapiDocument, pageOf?: (operationId: string) => string): string {
  const { info, tags, components } = document
  const operations = operationViews(document)
  const parts = [
    '# REST operations',
    'Made from [openapi.json](openapi.json), which is made from the routes themselves.',
    info.description,
    'How the operations fit together is in the [guide](../api.md), how requests are signed in [Signing](../signing.md), what errors mean in [Errors](errors.md).',
    overview(operations, components, pageOf),
    ...tags.flatMap((tag) =>
      tagParts(
        tag,
        operations.filter((operation) => operation.tag === tag.name),
        (operation) => operationSection(operation, components, codeOf(operation, components, pageOf)),
      ),
    ),
    '## Schemas',
    'Objects take no fields beyond these, unless it says so.',
    ...Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema)),
  ]
  return `${parts.join('\n\n')}\n`
}

const NEEDS: Readonly<Record<NeededCaller, string>> = {
  anybody: '',
  agent: 'agent',
  agentOrKey: 'agent or key',
  trader: 'trader',
  envelope: 'agent, in the body',
}

function overview(
  operations: readonly OperationView[],
  { schemas }: OpenapiComponents,
  pageOf = (operationId: string): string => `#${operationId.toLowerCase()}`,
): string {
  const rows = operations.map((operation) => [
    `[${operation.operationId}](${pageOf(operation.operationId)})`,
    `\`${operation.method} ${operation.path}\``,
    NEEDS[neededCaller(operation, schemas)],
  ])
  return table(['Operation', 'Request', 'Signed by'], rows)
}

function tagParts(
  { name, description }: OpenapiTag,
  own: readonly OperationView[],
  sectionOf: (operation: OperationView) => string,
): string[] {
  if (own.length === 0) return []
  return [`## ${name}`, description, ...own.map(sectionOf)]
}

function schemaSection(name: string, schema: Schema): string {
  const { properties, description } = schema
  const bounds = boundsText(schema)
  const words = properties === undefined ? [typeText(schema, ''), bounds].filter((text) => text !== '') : []
  return [
    `### Schema: ${name}`,
    description ?? '',
    words.length === 0 ? '' : `${words.join(', ')}.`,
    fieldTable(schema, ''),
    ...(schema.anyOf ?? []).map((choice) => fieldTable(choice, '')),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Returns the section of an operation: request, code that sends it, answer, errors. */
export function operationSection(operation: OperationView, components: OpenapiComponents, code: string): string {
  const { operationId, method, path, summary, description } = operation
  const { schemas } = components
  return [
    `### ${operationId}`,
    `\`${method} ${path}\``,
    `${summary}.${description === '' ? '' : ` ${description}`}`,
    accessText(operation, components),
    code,
    parameterTable(operation),
    bodyText(operation, schemas),
    ...answerTexts(operation),
    errorTable(operation),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function accessText(operation: OperationView, { securitySchemes, schemas }: OpenapiComponents): string {
  const signed = 'the [signature of an agent](../signing.md), in four headers'
  const texts: Readonly<Record<NeededCaller, string>> = {
    anybody: 'Open to everybody.',
    agent: `**Needs** ${signed}.`,
    agentOrKey: `**Needs** ${signed}; or a read-only key in \`${securitySchemes.ApiKey?.name}\`.`,
    envelope: '**Needs** a signature inside the body, as the [facade](../facade.md) has it.',
    trader: "**Needs** the [trader's own signature](../signing.md#signatures-of-the-trader), in the body.",
  }
  return texts[neededCaller(operation, schemas)]
}

/** Returns the code of an operation in the list of all: a link to its own page, or a command that works as it is. */
function codeOf(
  operation: OperationView,
  { schemas }: OpenapiComponents,
  pageOf: ((operationId: string) => string) | undefined,
): string {
  if (pageOf !== undefined) return `[Code, and Try it](${pageOf(operation.operationId)})`
  return neededCaller(operation, schemas) === 'anybody' ? curlBlock(operation) : ''
}

/** Example values of path parameters. A request that needs others is not shown. */
const PLACES: Readonly<Record<string, string>> = { '{chain}': 'arbitrum-sepolia', '{symbol}': 'BTC-USD' }

/** Returns a curl command for a public read, which works as it is against the local chain. */
function curlBlock({ method, path }: OperationView): string {
  const filled = path.replaceAll(/\{\w+\}/g, (place) => PLACES[place] ?? place)
  if (method !== 'GET' || filled.includes('{')) return ''
  return `\`\`\`sh\ncurl -s http://127.0.0.1:8080${filled}\n\`\`\``
}

/**
 * Returns the table of path and query parameters. The headers of a signature are the same everywhere and are left out.
 */
function parameterTable({ parameters }: OperationView): string {
  const own = parameters.filter(({ in: place }) => place !== 'header')
  const rows = own.map(({ name, in: place, description = '', required, schema, example }) => [
    `\`${name}\``,
    place,
    typeText(schema, ''),
    notesText([required === true ? '' : 'optional', ...fieldNotes(schema, description, example)]),
  ])
  return table(['Parameter', 'In', 'Type', ''], rows)
}

function bodyText({ body }: OperationView, schemas: Schemas): string {
  if (body === undefined) return ''
  const { required, schema, example } = body
  return [
    `**Body**${required ? '' : ' (may be left out)'}: ${shapeText(schema)}`,
    fieldTable(schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? {}), ''),
    example === undefined ? '' : jsonBlock(example),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Returns the answers with a shape of their own; the errors have one shape for all. */
function answerTexts({ answers }: OperationView): string[] {
  const own = Object.entries(answers).flatMap(([status, { content }]) => {
    const { schema, example } = content['application/json'] ?? {}
    return schema === undefined || isError(schema) ? [] : [{ status, schema, example, key: JSON.stringify(schema) }]
  })
  const bodiless = Object.entries(answers).filter(([, { content }]) => Object.keys(content).length === 0)
  const byShape = Map.groupBy(own, ({ key }) => key)
  const texts = [...byShape.values()].map((same) => {
    const { schema, example } = same.toReversed().find((one) => one.example !== undefined) ?? same[0]!
    const statuses = same.map(({ status }) => status).join(', ')
    return [
      `**Answer** ${statuses}: ${shapeText(schema)}`,
      schema.$ref === undefined ? fieldTable(schema, '') : '',
      example === undefined ? '' : jsonBlock(example),
    ]
      .filter((part) => part !== '')
      .join('\n\n')
  })
  return [
    ...texts,
    ...bodiless.map(([status, { description }]) => `**Answer** ${status}, without a body: ${description}`),
  ]
}

function isError(schema: Schema): boolean {
  return schema.allOf?.some(({ $ref }) => $ref?.endsWith('/Error')) ?? false
}

/** True for a schema that takes any value: there is no one example of it. */
function isFree({ $ref, type, anyOf }: Schema): boolean {
  return $ref === undefined && type === undefined && anyOf === undefined
}

function shapeText(schema: Schema): string {
  if (isFree(schema)) return schema.description ?? 'anything'
  return typeText(schema, '')
}

/** Returns the codes of each status, each with a link to its meaning; for a plain-text refusal, its description. */
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

/**
 * The kind of caller an operation accepts: anybody, an agent by its signature, an agent or a read-only key, the trader
 * by a signature in the body, or the signer of a facade envelope.
 */
export type NeededCaller = 'anybody' | 'agent' | 'agentOrKey' | 'trader' | 'envelope'

/** Returns the kind of caller that an operation accepts. */
export function neededCaller({ security, body }: OperationView, schemas: Schemas): NeededCaller {
  if (security.length > 0) return security.includes('ApiKey') ? 'agentOrKey' : 'agent'
  const { properties: fields = {} } = schemas[refName(body?.schema.$ref ?? '')] ?? body?.schema ?? {}
  if (!('signature' in fields)) return 'anybody'
  return 'trader' in fields ? 'trader' : 'envelope'
}

/** An operation with its references resolved. */
export interface OperationView {
  readonly operationId: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Names of the security schemes, any one of which is enough. */
  readonly security: readonly string[]
  readonly parameters: readonly OpenapiParameter[]
  readonly body: { readonly required: boolean; readonly schema: Schema; readonly example?: unknown } | undefined
  readonly answers: Readonly<Record<string, OpenapiAnswer>>
}

/** Lists every operation of a document, in its order. */
export function operationViews({ paths, components }: OpenapiDocument): readonly OperationView[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, tags, summary, description = '', security = [], parameters = [], requestBody } = operation
      const json = requestBody?.content['application/json']
      return {
        operationId,
        tag: tags[0] ?? '',
        method: method.toUpperCase(),
        path,
        summary,
        description,
        security: security.flatMap((scheme) => Object.keys(scheme)),
        parameters: parameters.map((parameter) => resolveRef(parameter, components.parameters)),
        body: requestBody && json && { required: requestBody.required, ...json },
        answers: Object.fromEntries(
          Object.entries(operation.responses).map(([status, answer]) => [
            status,
            resolveRef(answer, components.responses),
          ]),
        ),
      }
    }),
  )
}

/** Longest line of an example; a value that fits is kept on one line. */
const MAX_LINE = 88

/** Returns a value as a markdown block of JSON, with as few lines as fit. */
function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${textOf(value, 0)}\n\`\`\``
}

function textOf(value: unknown, indent: number, before = 0): string {
  const line = lineOf(value)
  if (typeof value !== 'object' || value === null || indent + before + line.length <= MAX_LINE) return line
  const inner = indent + 2
  const pad = ' '.repeat(inner)
  const parts = Array.isArray(value)
    ? value.map((item) => pad + textOf(item, inner))
    : Object.entries(value).map(([key, item]) => `${pad}"${key}": ${textOf(item, inner, key.length + 4)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`
}

function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, item]) => `"${key}": ${lineOf(item)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
