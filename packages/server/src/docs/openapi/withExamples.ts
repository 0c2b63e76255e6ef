import {
  type Content,
  type OpenapiAnswer,
  type OpenapiDocument,
  type OpenapiOperation,
  type OpenapiParameter,
  type Ref,
  refName,
} from './openapiDocument.ts'
import type { Schema, Schemas } from './schemaDescriber.ts'
import type { RecordedCall, Recording } from '../recorded/recording.ts'

const JSON_TYPE = 'application/json'

/**
 * Returns the document with the values of a recording: as examples of bodies, answers and parameters, and of every
 * property that a recorded value has.
 */
export function withExamples(document: OpenapiDocument, { operations }: Recording): OpenapiDocument {
  const { schemas, responses } = document.components
  const examples = collectExamples(schemas)
  for (const { operation } of operationsOf(document)) {
    for (const { body, status, answer } of operations[operation.operationId] ?? []) {
      examples.collect(operation.requestBody?.content[JSON_TYPE]?.schema, body)
      examples.collect(answerSchema(operation, status, responses, schemas), answer)
    }
  }
  const paths = mapOperations(document.paths, (operation, path) => {
    const calls = operations[operation.operationId] ?? []
    return calls.length === 0 ? operation : operationWithExamples(operation, path, calls)
  })
  return examples.addTo({ ...document, paths })
}

function* operationsOf({ paths }: OpenapiDocument): Generator<{ path: string; operation: OpenapiOperation }> {
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) yield { path, operation }
  }
}

function mapOperations(
  paths: OpenapiDocument['paths'],
  map: (operation: OpenapiOperation, path: string) => OpenapiOperation,
): OpenapiDocument['paths'] {
  const mapped = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, map(operation, path)])),
  ])
  return Object.fromEntries(mapped) as OpenapiDocument['paths']
}

/** Returns the schema of an answer; errors all have the same. */
function answerSchema(
  operation: OpenapiOperation,
  status: number,
  responses: Readonly<Record<string, OpenapiAnswer>>,
  schemas: Schemas,
): Schema | undefined {
  const answer = operation.responses[status]
  if (answer === undefined) return undefined
  const { content } = '$ref' in answer ? responses[answer.$ref.split('/').at(-1)!]! : answer
  const schema = content[JSON_TYPE]?.schema
  return schema?.allOf === undefined ? schema : schemas.Error
}

function operationWithExamples(
  operation: OpenapiOperation,
  path: string,
  calls: readonly RecordedCall[],
): OpenapiOperation {
  const { requestBody, parameters, responses } = operation
  // The first call is the one to show; a later one has the parameters that it lacks.
  const values = Object.assign({}, ...calls.toReversed().map((call) => parametersOf(path, call.path))) as Parameters
  const asked = calls.find(({ body }) => body !== undefined)
  return {
    ...operation,
    ...(parameters === undefined ? {} : { parameters: parameters.map((one) => withParameter(one, values)) }),
    ...(requestBody === undefined || asked === undefined
      ? {}
      : { requestBody: { ...requestBody, content: withContent(requestBody.content, asked.body) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [status, withAnswer(answer, status, calls)]),
    ),
  }
}

type Parameters = Readonly<Record<string, string>>

/** Returns the path and query parameters of a recorded path. */
function parametersOf(template: string, recorded: string): Parameters {
  const { pathname, searchParams } = new URL(recorded, 'http://localhost')
  const parts = pathname.split('/')
  const inPath = template.split('/').flatMap((part, at) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    return name === undefined ? [] : [[name, decodeURIComponent(parts[at]!)] as const]
  })
  return { ...Object.fromEntries(inPath), ...Object.fromEntries(searchParams) }
}

function withParameter(parameter: OpenapiParameter | Ref, values: Parameters): OpenapiParameter | Ref {
  if ('$ref' in parameter) return parameter
  const text = values[parameter.name]
  if (text === undefined) return parameter
  const { schema } = parameter
  const isNumber = schema.type === 'integer' || schema.$ref?.endsWith('/Timestamp') === true
  if (schema.type === 'boolean') return { ...parameter, example: text === 'true' }
  return { ...parameter, example: isNumber ? Number(text) : text }
}

function withAnswer(answer: OpenapiAnswer | Ref, status: string, calls: readonly RecordedCall[]): OpenapiAnswer | Ref {
  const call = calls.find((one) => String(one.status) === status)
  if ('$ref' in answer || call === undefined) return answer
  return { ...answer, content: withContent(answer.content, call.answer) }
}

function withContent(content: Content, example: unknown): Content {
  const json = content[JSON_TYPE]
  return json === undefined ? content : { ...content, [JSON_TYPE]: { ...json, example } }
}

/** The examples of properties, found by walking recorded values along their schemas. */
interface PropertyExamples {
  /** Takes the values of all properties, where a property has none yet. */
  collect(schema: Schema | undefined, value: unknown): void
  /** Returns a copy of a document in which each property has its example. */
  addTo<Document extends object>(document: Document): Document
}

type Fields = Readonly<Record<string, unknown>>

/** Creates an empty collection for the schemas of one document. A property is known by its schema object. */
export function collectExamples(schemas: Schemas): PropertyExamples {
  const examples = new Map<object, unknown>()

  function resolve(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? {})
  }

  function collect(schema: Schema | undefined, value: unknown): void {
    if (schema === undefined || value === undefined || value === null) return
    const { properties = {}, items, anyOf, additionalProperties } = resolve(schema)
    const choice = anyOf?.find((one) => accepts(one, value))
    if (choice !== undefined) collect(choice, value)
    if (Array.isArray(value)) for (const entry of value) collect(items, entry)
    if (!isFields(value)) return
    for (const [name, inner] of Object.entries(value)) {
      const property = properties[name]
      if (property === undefined && typeof additionalProperties === 'object') collect(additionalProperties, inner)
      if (property === undefined) continue
      const isKnown = examples.has(property) || inner === null
      if (!isKnown && !hasProperties(property)) examples.set(property, inner)
      collect(property, inner)
    }
  }

  /** Returns true when a value has the type of a schema, and the constants and required fields of an object. */
  function accepts(schema: Schema, value: unknown): boolean {
    const { type, enum: choices, const: only, properties = {}, required = [] } = resolve(schema)
    if (only !== undefined) return value === only
    if (choices !== undefined) return (choices as readonly unknown[]).includes(value)
    if (type === 'array') return Array.isArray(value)
    if (type === 'integer' || type === 'number') return typeof value === 'number'
    if (type !== 'object') return typeof value === type
    if (!isFields(value) || required.some((name) => !(name in value))) return false
    return Object.entries(properties).every(
      ([name, of]) => !(name in value) || !isChoice(of) || accepts(of, value[name]),
    )
  }

  /** Returns true when a property consists of properties, which have examples of their own. */
  function hasProperties(schema: Schema): boolean {
    const { properties, items, anyOf = [], additionalProperties } = resolve(schema)
    const inner = [...anyOf, ...(items === undefined ? [] : [items])]
    if (typeof additionalProperties === 'object') inner.push(additionalProperties)
    return properties !== undefined || inner.some(hasProperties)
  }

  function isChoice(schema: Schema): boolean {
    const { enum: choices, const: only } = resolve(schema)
    return choices !== undefined || only !== undefined
  }

  function withOwn(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(withOwn)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, withOwn(inner)]))
    return examples.has(node) ? { ...copy, examples: [examples.get(node)] } : copy
  }

  return { collect, addTo: (document) => withOwn(document) as typeof document }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
